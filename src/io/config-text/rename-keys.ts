import { toSnakeCase } from '../../internal/arguments.ts';
import type { EntryPlace, YamlPlaces } from '../read-yaml.ts';
import { isMapping } from '../../internal/values.ts';
import type { KeyPath, PathFault } from './path-fault.ts';

/** What goes along with renaming. */
export interface Renaming {
  readonly places: YamlPlaces;
  readonly faults: PathFault[];
  /** Whether declared keys may be in camelCase too. */
  readonly allowsCamelCase: boolean;
  /** Other names of keys, and what they stand for. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Renames keys of what stands at a path. */
export type Rename = (value: unknown, path: KeyPath) => unknown;

/** How the values of a mapping's keys are renamed, by key. */
type Inner = ReadonlyMap<string, Rename>;

/** Renames the declared keys of one mapping; anything else is left for the schema to refuse. */
export function renameKeys(
  value: unknown,
  path: KeyPath,
  keys: readonly string[],
  inner: Inner,
  renaming: Renaming,
): unknown {
  if (!isMapping(value)) return value;
  const places = renaming.places.get(value);
  const written = new Map<string, string>();
  const renamedPlaces = new Map<string | number, EntryPlace>();
  const entries: [string, unknown][] = [];
  for (const [key, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const name = canonicalName(key, keys, renaming);
    const place = places?.entries.get(key);
    const before = written.get(name);
    if (before !== undefined) {
      renaming.faults.push(givenTwice([...path, name], before, key, place));
      continue;
    }
    written.set(name, key);
    if (place !== undefined) renamedPlaces.set(name, place);
    const rename = inner.get(name);
    entries.push([name, rename === undefined ? given : rename(given, [...path, name])]);
  }
  // Defines own properties, a key __proto__ too.
  const renamed = Object.fromEntries(entries);
  if (places !== undefined) renaming.places.set(renamed, { at: places.at, entries: renamedPlaces });
  return renamed;
}

function canonicalName(key: string, keys: readonly string[], { allowsCamelCase, aliases }: Renaming): string {
  if (keys.includes(key)) return key;
  const spelled = allowsCamelCase ? toSnakeCase(key) : key;
  const name = aliases.get(spelled) ?? spelled;
  return keys.includes(name) ? name : key;
}

function givenTwice(path: KeyPath, first: string, second: string, place: EntryPlace | undefined): PathFault {
  const message = `the keys '${first}' and '${second}' are the same`;
  return { path, at: 'key', place: place?.key, message, suggestion: 'Keep one of the two.' };
}

/** Renames in every item of a list, or every value of a mapping whose keys are data. */
export function renameEach(rename: Rename, renaming: Renaming): Rename {
  return (value, path) => {
    if (Array.isArray(value)) {
      return copyPlaces(
        value,
        value.map((item, index) => rename(item, [...path, index])),
        renaming,
      );
    }
    if (!isMapping(value)) return value;
    const entries = Object.entries(value).map(([key, given]) => [key, rename(given, [...path, key])] as const);
    return copyPlaces(value, Object.fromEntries(entries), renaming);
  };
}

/** Gives a copy the places of what it is a copy of. */
export function copyPlaces<Copy extends object>(from: object, to: Copy, { places }: Renaming): Copy {
  const found = places.get(from);
  if (found !== undefined) places.set(to, found);
  return to;
}
