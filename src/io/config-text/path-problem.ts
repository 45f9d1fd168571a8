import { valueAt } from '../../internal/values.ts';
import type { TextPosition, YamlPositions } from '../read-yaml.ts';
import { escapeControls } from './config-problem.ts';

/** The keys and list indices that lead to a value. */
export type KeyPath = readonly (string | number)[];

/** An error of a value in a configuration, without its position in the text. */
export interface PathProblem {
  readonly path: KeyPath;
  /** Whether the key or its value is invalid. */
  readonly at: 'key' | 'value';
  /** The position of the error in the text, if it differs from that of the path. */
  readonly index?: TextPosition | undefined;
  readonly message: string;
  readonly suggestion: string;
  /** Whether the key is missing. */
  readonly isMissing?: boolean;
  /** For an unknown key: similar known keys. */
  readonly meant?: readonly string[];
}

/** Formats a path, as in `pipeline[0].params.max_weight`. */
export function formatPath(path: KeyPath): string {
  return path.map((part, index) => formatPart(part, index === 0)).join('');
}

function formatPart(part: string | number, isFirst: boolean): string {
  if (typeof part === 'number') return `[${String(part)}]`;
  if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(part)) return isFirst ? part : `.${part}`;
  return `['${escapeControls(part)}']`;
}

/** The text at a path. */
export interface PathInText {
  /** The position of the key or value; undefined if the configuration does not come from text. */
  readonly index: TextPosition | undefined;
  /** The path with every key as it is written. */
  readonly written: KeyPath;
  /** A scalar as it is written. */
  readonly source: string | undefined;
}

/** Finds a path in the source text. A missing key gets the position of its container. */
export function findInText(root: unknown, path: KeyPath, positions: YamlPositions, at: 'key' | 'value'): PathInText {
  let container: unknown = root;
  let position = positionsOf(root, positions)?.at;
  let source: string | undefined;
  const written = path.map((part) => {
    const entry = positionsOf(container, positions)?.entries.get(part);
    container = valueAt(container, [part]);
    position = entry?.[at] ?? position;
    source = entry?.source ?? undefined;
    return entry?.written ?? part;
  });
  return { index: position, written, source };
}

function positionsOf(value: unknown, positions: YamlPositions): ReturnType<YamlPositions['get']> {
  return typeof value === 'object' && value !== null ? positions.get(value) : undefined;
}

/** Returns an error whose message begins with its path. */
export function problemAt(
  path: KeyPath,
  message: string,
  suggestion: string,
  at: 'key' | 'value' = 'value',
): PathProblem {
  return { path, at, message: `${formatPath(path)}: ${message}`, suggestion };
}
