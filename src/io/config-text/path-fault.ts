import type { TextPlace, YamlPlaces } from '../read-yaml.ts';
import { escapeControls } from './config-fault.ts';

/** The keys and places in lists that lead to a value. */
export type KeyPath = readonly (string | number)[];

/** A fault of a value in a configuration, before it is known where that stands in a text. */
export interface PathFault {
  readonly path: KeyPath;
  /** Whether the key is at fault or what stands behind it. */
  readonly at: 'key' | 'value';
  /** Where the text is at fault, if that is not at the path. */
  readonly place?: TextPlace | undefined;
  readonly message: string;
  readonly suggestion: string;
  /** For a key that is not there. */
  readonly isMissing?: boolean;
  /** For an unknown key: the known ones that may have been meant. */
  readonly meant?: readonly string[];
}

/** A path as people write it: `pipeline[0].params.max_weight`. */
export function formatPath(path: KeyPath): string {
  return path.map((part, index) => formatPart(part, index === 0)).join('');
}

function formatPart(part: string | number, isFirst: boolean): string {
  if (typeof part === 'number') return `[${String(part)}]`;
  if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(part)) return isFirst ? part : `.${part}`;
  return `['${escapeControls(part)}']`;
}

/** What is known of the text at a path. */
export interface PathInText {
  /** Where the key or value stands; undefined where the configuration is no text. */
  readonly place: TextPlace | undefined;
  /** The path with every key as it is written. */
  readonly written: KeyPath;
  /** A scalar as it is written. */
  readonly source: string | undefined;
}

/** Finds a path in the text that a value was read from. What is not there has the place of what it is missing in. */
export function findInText(root: unknown, path: KeyPath, places: YamlPlaces, at: 'key' | 'value'): PathInText {
  let container: unknown = root;
  let place = placesOf(root, places)?.at;
  let source: string | undefined;
  const written = path.map((part) => {
    const entry = placesOf(container, places)?.entries.get(part);
    container = valueAt(container, [part]);
    place = entry?.[at] ?? place;
    source = entry?.source ?? undefined;
    return entry?.written ?? part;
  });
  return { place, written, source };
}

function placesOf(value: unknown, places: YamlPlaces): ReturnType<YamlPlaces['get']> {
  return typeof value === 'object' && value !== null ? places.get(value) : undefined;
}

/** What stands at a path; undefined where there is nothing. */
export function valueAt(root: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, part) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    return isThere ? (value as Record<string | number, unknown>)[part] : undefined;
  }, root);
}

/** Returns a fault that says where it is. */
export function faultAt(path: KeyPath, message: string, suggestion: string, at: 'key' | 'value' = 'value'): PathFault {
  return { path, at, message: `${formatPath(path)}: ${message}`, suggestion };
}
