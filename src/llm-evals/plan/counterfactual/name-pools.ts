import type { CounterfactualConfig } from '../../../schemas/llm-eval/llm-eval-document.ts';

/** The parts of a configuration that determine the name of a person. */
export type NameConfig = Pick<CounterfactualConfig, 'dimensions' | 'namePools' | 'maxNames'>;

/** The values of one or several dimensions. */
export type Values = readonly (readonly [dimension: string, value: string])[];

/** The names of each group, for the placeholder `{name}`. */
export interface NamePools {
  /** The dimensions that determine the name together, in the order of the configuration. */
  readonly dimensions: readonly string[];
  /** The number of names of each group: the size of the smallest pool. */
  readonly count: number;
  /** Returns the name at an index of the pool of a group. */
  nameOf(values: ReadonlyMap<string, string>, index: number): string | null;
}

/** Returns the name of a group: its values, in the order of the dimensions. */
export function groupName(values: Values): string {
  return values.map(([, value]) => value).join(', ');
}

/** Returns every combination of one value of each dimension. Without dimensions, returns one empty combination. */
export function combinations(
  dimensions: readonly (readonly [dimension: string, values: readonly string[]])[],
): Values[] {
  return dimensions.reduce<Values[]>(
    (sofar, [dimension, values]) =>
      sofar.flatMap((fixed) => values.map((value) => [...fixed, [dimension, value] as const])),
    [[]],
  );
}

/**
 * Returns all ways to read a text as values of different dimensions, separated by commas. Two dimensions may have the
 * same value, and a value may contain a comma, so there may be several ways.
 */
export function readGroup(text: string, dimensions: CounterfactualConfig['dimensions']): Values[] {
  const entries = Object.entries(dimensions);
  return readParts(text.trim(), entries).map((values) => sortValues(values, Object.keys(dimensions)));
}

function readParts(text: string, entries: readonly (readonly [string, readonly string[]])[]): Values[] {
  return entries.flatMap(([dimension, values]) =>
    values.flatMap((value): Values[] => {
      if (text === value) return [[[dimension, value]]];
      const rest = text.startsWith(value) ? /^\s*,\s*(.+)$/su.exec(text.slice(value.length))?.[1] : undefined;
      if (rest === undefined) return [];
      const others = entries.filter(([other]) => other !== dimension);
      return readParts(rest, others).map((more) => [[dimension, value], ...more]);
    }),
  );
}

function sortValues(values: Values, order: readonly string[]): Values {
  return [...values].sort(([first], [second]) => order.indexOf(first) - order.indexOf(second));
}

/** The keys of name pools, read as values of the same dimensions. */
export interface PoolKeys {
  readonly dimensions: readonly string[];
  /** The key of each group, by the name of the group. If two keys name the same group, the first one. */
  readonly keys: ReadonlyMap<string, string>;
  /** The keys that name the group of an earlier key. */
  readonly repeated: readonly string[];
}

/** Reads the keys of name pools. Returns undefined if they cannot all be read as values of the same dimensions. */
export function readPoolKeys(
  keys: readonly string[],
  dimensions: CounterfactualConfig['dimensions'],
): PoolKeys | undefined {
  const readings = keys.map((key) => readGroup(key, dimensions));
  const namesOf = (values: Values): string => JSON.stringify(values.map(([dimension]) => dimension));
  const shared = readings[0]
    ?.map(namesOf)
    .find((names) => readings.every((those) => those.some((values) => namesOf(values) === names)));
  if (shared === undefined) return undefined;
  const byGroup = new Map<string, string>();
  const repeated: string[] = [];
  keys.forEach((key, index) => {
    const group = groupName(readings[index]?.find((values) => namesOf(values) === shared) ?? []);
    if (byGroup.has(group)) repeated.push(key);
    else byGroup.set(group, key);
  });
  return { dimensions: JSON.parse(shared) as string[], keys: byGroup, repeated };
}

/** Returns the groups of the dimensions that no key names. */
export function groupsWithoutNames(read: PoolKeys, dimensions: CounterfactualConfig['dimensions']): string[] {
  const groups = combinations(read.dimensions.map((name) => [name, dimensions[name] ?? []])).map(groupName);
  return groups.filter((group) => !read.keys.has(group));
}

/** Returns the names of each group; null if there are none, or if a group has none. */
export function namePoolsOf({ dimensions, namePools, maxNames = Infinity }: NameConfig): NamePools | null {
  const read = readPoolKeys(Object.keys(namePools), dimensions);
  if (read === undefined || groupsWithoutNames(read, dimensions).length > 0) return null;
  const pools = new Map([...read.keys].map(([group, key]) => [group, namePools[key] ?? []]));
  const count = Math.min(maxNames, ...Array.from(pools.values(), ({ length }) => length));
  const nameOf = (values: ReadonlyMap<string, string>, index: number): string | null => {
    const group = read.dimensions.map((dimension) => [dimension, values.get(dimension) ?? ''] as const);
    return pools.get(groupName(group))?.[index] ?? null;
  };
  return { dimensions: read.dimensions, count, nameOf };
}
