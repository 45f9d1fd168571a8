import { toSnakeCase } from '../../internal/arguments.ts';
import type { EntryPosition, YamlPositions } from '../read-yaml.ts';
import { isMapping } from '../../internal/values.ts';
import type { KeyPath, PathProblem } from './path-problem.ts';

/** The positions, errors and rules that all renaming functions share. */
export interface Renaming {
  readonly indices: YamlPositions;
  readonly faults: PathProblem[];
  /** Whether declared keys may also be in camelCase. */
  readonly allowsCamelCase: boolean;
  /** A map from alternative names of keys to the standard names. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Renames the keys of the value at a path. */
export type Rename = (value: unknown, path: KeyPath) => unknown;

/** For each key of a mapping, the function that renames keys within its value. */
type Inner = ReadonlyMap<string, Rename>;

/** Renames the keys of one mapping that the schema declares. The schema rejects all other keys. */
export function renameKeys(
  value: unknown,
  path: KeyPath,
  keys: readonly string[],
  inner: Inner,
  renaming: Renaming,
): unknown {
  if (!isMapping(value)) return value;
  const positions = renaming.indices.get(value);
  const written = new Map<string, string>();
  const renamedPaths = new Map<string | number, EntryPosition>();
  const entries: [string, unknown][] = [];
  for (const [key, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const name = canonicalName(key, keys, renaming);
    const position = positions?.entries.get(key);
    const before = written.get(name);
    if (before !== undefined) {
      renaming.faults.push(givenTwice([...path, name], before, key, position));
      continue;
    }
    written.set(name, key);
    if (position !== undefined) renamedPaths.set(name, position);
    const rename = inner.get(name);
    entries.push([name, rename === undefined ? given : rename(given, [...path, name])]);
  }
  // `Object.fromEntries` defines own properties, including a key __proto__.
  const renamed = Object.fromEntries(entries);
  if (positions !== undefined) renaming.indices.set(renamed, { at: positions.at, entries: renamedPaths });
  return renamed;
}

function canonicalName(key: string, keys: readonly string[], { allowsCamelCase, aliases }: Renaming): string {
  if (keys.includes(key)) return key;
  const spelled = allowsCamelCase ? toSnakeCase(key) : key;
  const name = aliases.get(spelled) ?? spelled;
  return keys.includes(name) ? name : key;
}

function givenTwice(path: KeyPath, first: string, second: string, position: EntryPosition | undefined): PathProblem {
  const message = `the keys '${first}' and '${second}' are the same`;
  return { path, at: 'key', index: position?.key, message, suggestion: 'Keep one of the two.' };
}

/**
 * Returns a function that renames the keys in every item of a list, or in every value of a mapping. The keys of such a
 * mapping are names from the data, so these keys are not renamed.
 */
export function renameEach(rename: Rename, renaming: Renaming): Rename {
  return (value, path) => {
    if (Array.isArray(value)) {
      return copyPositions(
        value,
        value.map((item, index) => rename(item, [...path, index])),
        renaming,
      );
    }
    if (!isMapping(value)) return value;
    const entries = Object.entries(value).map(([key, given]) => [key, rename(given, [...path, key])] as const);
    return copyPositions(value, Object.fromEntries(entries), renaming);
  };
}

/** Stores the positions of a value for its copy with renamed keys. */
export function copyPositions<Copy extends object>(from: object, to: Copy, { indices: places }: Renaming): Copy {
  const found = places.get(from);
  if (found !== undefined) places.set(to, found);
  return to;
}
