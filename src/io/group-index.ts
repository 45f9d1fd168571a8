import { type CategoricalColumn, joinLabels, missingLabel, type NanPolicy, sortLabels } from '../table/index.ts';

/** One group of an attribute: its label, and the values of the attribute's columns that make it. */
export interface SourceGroup {
  readonly label: string;
  readonly parts: readonly string[];
}

/** The groups of one attribute, in the order of their labels. */
export interface GroupIndex {
  readonly groups: readonly SourceGroup[];
  /** The group of a combination of values; -1 where it has none. */
  find(values: readonly (string | undefined)[]): number;
}

/**
 * Labels combinations of values as arrays of them would be labelled; distinct
 * groups have distinct labels.
 * @param tuples the combinations that occur, repeated or not; a missing value is undefined
 */
export function indexGroups(tuples: readonly (readonly (string | undefined)[])[], nanPolicy: NanPolicy): GroupIndex {
  const missing = Array.from({ length: tuples[0]?.length ?? 0 }, (_, place) =>
    missingLabel(tuples.map((tuple) => tuple[place])),
  );
  const keyOf = (tuple: readonly (string | undefined)[]): string => JSON.stringify(tuple);
  const partsOf = new Map<string, readonly string[]>();
  for (const tuple of tuples) {
    if (nanPolicy !== 'include' && tuple.includes(undefined)) continue;
    partsOf.set(
      keyOf(tuple),
      tuple.map((value, place) => value ?? (missing[place] as string)),
    );
  }
  const found = [...partsOf.values()];
  const { codes, labels } = sortGroups(found, missing);
  const parts = new Array<readonly string[]>(found.length);
  codes.forEach((group, index) => (parts[group] = found[index] as readonly string[]));
  const groupOf = new Map([...partsOf.keys()].map((key, index) => [key, codes[index] as number]));
  return {
    groups: labels.map((label, group) => ({ label, parts: parts[group] as readonly string[] })),
    find: (values) => groupOf.get(keyOf(values)) ?? -1,
  };
}

/** Sorts by label; rows without a value of a single attribute come last, whatever their label. */
function sortGroups(found: readonly (readonly string[])[], missing: readonly string[]): CategoricalColumn {
  const labels = joinLabels(found);
  const last = missing.length === 1 ? labels.indexOf(missing[0] as string) : -1;
  const codes = Int32Array.from(found.keys());
  if (last < 0) return sortLabels(codes, labels);
  const known = labels.filter((_, index) => index !== last);
  const sorted = sortLabels(
    codes.map((index) => (index === last ? -1 : index - Number(index > last))),
    known,
  );
  return {
    kind: 'categorical',
    codes: sorted.codes.map((code) => (code < 0 ? known.length : code)),
    labels: [...sorted.labels, labels[last] as string],
  };
}
