import {
  type CategoricalColumn,
  type Column,
  type ColumnReading,
  encodeGroups,
  labelValue,
  missingGroups,
  readingOfGroups,
  readingOfLabels,
  readingOfMissing,
  readLabels,
  toBinary,
} from '../../table/index.ts';
import type { Combinations, LabelDictionary } from './label-dictionary.ts';
import { choosePositiveLabel } from './training-data.ts';

/** The column to predict in a stream of rows. */
export interface StreamTarget {
  readonly name: string;
  readonly dictionary: LabelDictionary;
  /** The texts that mean a missing value. */
  readonly missing: ReadonlySet<string>;
  /** Whether the column holds numbers. */
  readonly isNumeric: boolean;
}

/** The labels of a target. */
interface TargetLabels {
  /** The label that is mapped to 1; null if the target is 0/1. */
  readonly positiveLabel: string | null;
  /** The value of each code, 0 or 1; 0 for missing values. */
  readonly values: Uint8Array;
  readonly readings: readonly ColumnReading[];
}

/**
 * Reads the labels of a target.
 * @throws {DataValidationError} if there are not two labels, or the positive label does not occur
 */
export function readTarget(
  { name, dictionary, missing, isNumeric }: StreamTarget,
  {
    positiveLabel: named,
    naValues,
  }: { readonly positiveLabel?: string | undefined; readonly naValues?: readonly string[] | undefined },
): TargetLabels {
  const known = dictionary.labels.filter((label) => !missing.has(label)).sort();
  const counts = known.map((label) => dictionary.countOf(label));
  const positiveLabel = choosePositiveLabel(name, { labels: known, counts }, named);
  const column: Column = isNumeric
    ? { kind: 'numeric', values: Float64Array.from(known, Number) }
    : { kind: 'categorical', codes: Int32Array.from(known.keys()), labels: known };
  const binary = toBinary(column, `Column '${name}'`, positiveLabel ?? undefined);
  const valueOf = new Map(known.map((label, index) => [label, binary[index] as number]));
  const values = Uint8Array.from(dictionary.labels, (label) => valueOf.get(label) ?? 0);
  return { positiveLabel, values, readings: targetReadings({ name, dictionary, missing }, named, naValues) };
}

function targetReadings(
  { name, dictionary, missing }: Omit<StreamTarget, 'isNumeric'>,
  named: string | undefined,
  naValues: readonly string[] | undefined,
): ColumnReading[] {
  const labels = dictionary.labels.filter((label) => label !== '');
  if (named === undefined) {
    const texts = labels.filter((label) => missing.has(label));
    const counts = Object.fromEntries(texts.map((label) => [label, dictionary.countOf(label)]));
    return texts.length === 0 ? [] : [readingOfMissing('true labels', counts, name)];
  }
  const { rule } = readLabels(dictionary.column(), name, named, naValues);
  const read = labels.map((label) => ({
    label,
    count: dictionary.countOf(label),
    value: labelValue(label, rule) ?? NaN,
  }));
  return [readingOfLabels('true labels', read, { name, positiveLabel: rule.positiveLabel })];
}

/** Returns how a column of groups was read. */
export function groupReadings(
  name: string,
  dictionary: LabelDictionary,
  naValues: readonly string[] | undefined,
): ColumnReading[] {
  const missing = missingGroups(naValues);
  const labels = dictionary.labels.filter((label) => label !== '');
  const read = labels.map((label) => ({
    label,
    count: dictionary.countOf(label),
    value: missing.has(label) ? -1 : 1,
  }));
  return readingOfGroups(name, read, naValues);
}

/** The groups of a stream of rows. */
interface StreamGroups {
  /** The group of each combination. */
  readonly codes: Int32Array;
  /** The labels of the groups. Groups of training rows are first. */
  readonly labels: readonly string[];
  /** The number of groups that training rows have. */
  readonly trained: number;
}

/** Returns the groups of combinations of the sensitive columns' codes. */
export function readGroups(
  sensitive: readonly { readonly name: string; readonly dictionary: LabelDictionary }[],
  combinations: Combinations,
  isTrained: (combination: number) => boolean,
): StreamGroups {
  const all = [...Array(combinations.size).keys()];
  const codes = new Int32Array(all.length);
  const positionOf = new Map<string, number>();
  const add = (some: readonly number[]): void => {
    const { codes: found, labels } = groupsOf(sensitive, combinations, some);
    for (const label of labels) if (!positionOf.has(label)) positionOf.set(label, positionOf.size);
    for (const [index, combination] of some.entries())
      codes[combination] = positionOf.get(labels[found[index] as number] as string) as number;
  };
  add(all.filter(isTrained));
  const trained = positionOf.size;
  add(all.filter((combination) => !isTrained(combination)));
  return { codes, labels: [...positionOf.keys()], trained };
}

function groupsOf(
  sensitive: Parameters<typeof readGroups>[0],
  combinations: Combinations,
  some: readonly number[],
): CategoricalColumn {
  if (some.length === 0) return { kind: 'categorical', codes: new Int32Array(0), labels: [] };
  // As texts, so that the labels are sorted, and those of other combinations are left out.
  const texts = sensitive.map(({ name, dictionary }, part) => [
    name,
    some.map((combination) => dictionary.labels[combinations.partOf(combination, part)] ?? null),
  ]);
  return encodeGroups(Object.fromEntries(texts) as Record<string, (string | null)[]>);
}
