import { valueAt } from '../../internal/values.ts';
import type { TextPosition, YamlPositions } from '../read-yaml.ts';
import { type ConfigProblem, escapeControls } from './config-problem.ts';

/** The keys and list indices that lead to a value. */
export type KeyPath = readonly (string | number)[];

/** An error of a value in a configuration, without its position in the text. */
export interface PathProblem {
  readonly path: KeyPath;
  /** Whether the key or its value is invalid. */
  readonly at: 'key' | 'value';
  /** The position of the error in the text, if it differs from the position of the path. */
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
interface PathInText {
  /** The position of the key or value; undefined if the configuration does not come from text. */
  readonly index: TextPosition | undefined;
  /** The path, with every key as it is written in the text. */
  readonly written: KeyPath;
  /** The scalar at the path, as it is written in the text; undefined if there is no scalar. */
  readonly source: string | undefined;
}

/** Finds a path in the source text. For a missing key, the position is that of the mapping that lacks the key. */
function findInText(root: unknown, path: KeyPath, positions: YamlPositions, at: 'key' | 'value'): PathInText {
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

/** A function that returns a path and its value in the notation of the source text, for messages. */
export type Wording = (path: KeyPath) => { readonly key: string; readonly given: string };

/** The maximum length of a value in messages. */
const LONGEST = 60;

/** Returns a function that finds the notation of paths and values in the source text. */
export function wordingOf(root: unknown, positions: YamlPositions): Wording {
  return (path) => {
    const { written, source } = findInText(root, path, positions, 'value');
    return { key: formatPath(written), given: describeValue(valueAt(root, path), source) };
  };
}

/** Adds the position in the text to an error. */
export function positionProblem(
  { path, at, index, message, suggestion }: PathProblem,
  root: unknown,
  positions: YamlPositions,
  file: string | null,
): ConfigProblem {
  const { index: found, written } = findInText(root, path, positions, at);
  const { line, column } = index ?? found ?? { line: null, column: null };
  return { file, line, column, key: formatPath(written), message, suggestion };
}

/** Describes a value in a few words. */
export function describeValue(value: unknown, source?: string): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return `'${shorten(escapeControls(value))}'`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${String(value.length)}`;
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'number' || typeof value === 'boolean'
    ? shorten(source ?? String(value))
    : `a ${typeof value}`;
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
