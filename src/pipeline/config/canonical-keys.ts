import { toSnakeCase } from '../../internal/letter-case.ts';
import type { EntryPlace, YamlPlaces } from '../../io/yaml-document.ts';
import { KEY_ALIASES, PIPELINE_FIELDS, STEP_KEYS, TRAINING_KEYS } from '../../schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../schemas/pipeline/transformer-params.ts';
import type { KeyPath, PathFault } from './path-fault.ts';

/** A mapping as it was given. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Whether a value is a mapping. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What goes along with renaming. */
export interface Renaming {
  readonly places: YamlPlaces;
  readonly faults: PathFault[];
  /** Whether declared keys may be in camelCase too. */
  readonly allowsCamelCase: boolean;
}

type Rename = (value: unknown, path: KeyPath) => unknown;

/** How the values of a mapping's keys are renamed, by key. */
type Inner = ReadonlyMap<string, Rename>;

const NOTHING: Inner = new Map();
const COST_KEYS = ['false_positive', 'false_negative'];

/**
 * A configuration with its declared keys under their one name each: aliases and
 * camelCase are gone, keys that are data and unknown ones are as they were.
 */
export function canonicalDocument(value: unknown, renaming: Renaming): unknown {
  const declared = Object.keys(PIPELINE_FIELDS);
  const fields = new Map<string, Rename>([
    ['pipeline', renameEach((step, path) => renameStep(step, path, renaming), renaming)],
    ['training', (training, path) => renameTraining(training, path, renaming)],
  ]);
  const profiles = renameEach((profile, path) => renameKeys(profile, path, declared, fields, renaming), renaming);
  return renameKeys(value, [], [...declared, 'profiles'], new Map([...fields, ['profiles', profiles]]), renaming);
}

function renameStep(step: unknown, path: KeyPath, renaming: Renaming): unknown {
  const renamed = renameKeys(step, path, STEP_KEYS, NOTHING, renaming);
  return withParams(renamed, path, TRANSFORMER_PARAMS, 'transformer', renaming);
}

function renameTraining(training: unknown, path: KeyPath, renaming: Renaming): unknown {
  const renamed = renameKeys(training, path, TRAINING_KEYS, NOTHING, renaming);
  return withParams(renamed, path, TRAINING_PARAMS, 'method', renaming);
}

/** Renames the keys of parameters; which there are depends on what they are the parameters of. */
function withParams(
  owner: unknown,
  path: KeyPath,
  schemas: Readonly<Record<string, { readonly shape: object }>>,
  discriminator: string,
  renaming: Renaming,
): unknown {
  const name = isMapping(owner) ? owner[discriminator] : undefined;
  const schema = typeof name === 'string' && Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (!isMapping(owner) || schema === undefined || !('params' in owner)) return owner;
  const costs: Rename = (value, at) => renameKeys(value, at, COST_KEYS, NOTHING, renaming);
  const keys = Object.keys(schema.shape);
  const params = renameKeys(owner['params'], [...path, 'params'], keys, new Map([['costs', costs]]), renaming);
  return copyPlaces(owner, { ...owner, params }, renaming);
}

/** Renames the declared keys of one mapping; anything else is left for the schema to refuse. */
function renameKeys(value: unknown, path: KeyPath, keys: readonly string[], inner: Inner, renaming: Renaming): unknown {
  if (!isMapping(value)) return value;
  const places = renaming.places.get(value);
  const written = new Map<string, string>();
  const renamedPlaces = new Map<string | number, EntryPlace>();
  const entries: [string, unknown][] = [];
  for (const [key, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const name = canonicalName(key, keys, renaming.allowsCamelCase);
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

function canonicalName(key: string, keys: readonly string[], allowsCamelCase: boolean): string {
  if (keys.includes(key)) return key;
  const spelled = allowsCamelCase ? toSnakeCase(key) : key;
  const name = KEY_ALIASES.get(spelled) ?? spelled;
  return keys.includes(name) ? name : key;
}

function givenTwice(path: KeyPath, first: string, second: string, place: EntryPlace | undefined): PathFault {
  const message = `the keys '${first}' and '${second}' are the same`;
  return { path, at: 'key', place: place?.key, message, suggestion: 'Keep one of the two.' };
}

/** Renames in every item of a list, or every value of a mapping whose keys are data. */
function renameEach(rename: Rename, renaming: Renaming): Rename {
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

function copyPlaces<Copy extends object>(from: object, to: Copy, { places }: Renaming): Copy {
  const found = places.get(from);
  if (found !== undefined) places.set(to, found);
  return to;
}
