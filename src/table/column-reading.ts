import { counted } from '../internal/format.ts';
import { canonicalLabel } from '../internal/label-text.ts';
import { groupBy } from '../internal/values.ts';
import type { CategoricalColumn, Column } from './column.ts';
import { numbersAmong, oftenMeansMissing } from './missing-values.ts';

/** The number of rows for each label or text. */
export type LabelCounts = Readonly<Record<string, number>>;

/** The role of a column in an analysis. */
export type ColumnRole = 'predictions' | 'true labels' | 'scores' | 'weights' | 'features' | 'groups';

/** Describes how the labels and texts of one column were interpreted. */
export interface ColumnReading {
  readonly role: ColumnRole;
  /** The name of the column. Undefined if at most one column can have this role. */
  readonly name?: string | undefined;
  /** The positive label that the caller specified. */
  readonly positiveLabel?: string | undefined;
  readonly positive: LabelCounts;
  readonly negative: LabelCounts;
  /** The texts that were read as missing values. Null values are not included. */
  readonly missing: LabelCounts;
  /**
   * The suspicious groups, if this is a column of groups: groups whose labels look alike, and groups whose labels often
   * mean a missing value.
   */
  readonly groups: LabelCounts;
}

const NOTHING: Omit<ColumnReading, 'role'> = { positive: {}, negative: {}, missing: {}, groups: {} };

/** One label of a column, with its number of rows and its value: 1, 0, or -1 for missing. */
export interface ReadLabel {
  readonly label: string;
  readonly count: number;
  readonly value: number;
}

/** Returns how a column of labels was interpreted. */
export function readingOfLabels(
  role: ColumnRole,
  labels: readonly ReadLabel[],
  given: Pick<ColumnReading, 'name' | 'positiveLabel'> = {},
): ColumnReading {
  const withValue = (value: number): LabelCounts => countsOf(labels.filter((one) => one.value === value));
  return { ...NOTHING, role, ...given, positive: withValue(1), negative: withValue(0), missing: withValue(-1) };
}

/**
 * Returns how a column was interpreted if only its missing values matter: the texts that were read as missing values.
 */
export function readingOfMissing(role: ColumnRole, missing: LabelCounts, name?: string): ColumnReading {
  return { ...NOTHING, role, name, missing: countsOf(entriesOf(missing)) };
}

/**
 * Returns the reading of a column of groups: the suspicious groups, and the texts that `naValues` declares as missing.
 * Labels that spell the same number are one group, as in {@link canonicalLabel}.
 * @returns an empty list if there are neither
 */
export function readingOfGroups(
  name: string,
  labels: readonly ReadLabel[],
  naValues: readonly string[] | undefined,
): ColumnReading[] {
  const merge = (isKnown: boolean): ReturnType<typeof addUp> =>
    addUp(
      labels
        .filter(({ value }) => value >= 0 === isKnown)
        .map(({ label, count }) => ({ label: canonicalLabel(label), count })),
    );
  const known = merge(true);
  const suspicious = new Set(
    suspiciousGroups(
      known.map(({ label }) => label),
      naValues,
    ),
  );
  const groups = countsOf(known.filter(({ label }) => suspicious.has(label)));
  const missing = countsOf(merge(false));
  const isEmpty = Object.keys(groups).length + Object.keys(missing).length === 0;
  return isEmpty ? [] : [{ ...NOTHING, role: 'groups', name, groups, missing }];
}

/**
 * Returns the suspicious labels of groups: labels that look alike, and labels that look like a missing value but are
 * not listed in `naValues`.
 */
export function suspiciousGroups(labels: readonly string[], naValues: readonly string[] | undefined): string[] {
  const alike = new Set(lookAlikes(labels).flat());
  return labels.filter((label) => alike.has(label) || (naValues === undefined && oftenMeansMissing(label)));
}

/** Returns the number of rows for each label of a column. Labels without rows are omitted. */
export function countLabels({
  codes,
  labels,
}: CategoricalColumn): { readonly label: string; readonly count: number }[] {
  const counts = new Float64Array(labels.length);
  for (const code of codes) if (code >= 0) counts[code] = (counts[code] ?? 0) + 1;
  return labels.map((label, code) => ({ label, count: counts[code] as number })).filter(({ count }) => count > 0);
}

/** Returns the number of rows for each of the given texts in a column. */
export function countTexts(column: Column, texts: ReadonlySet<string>): LabelCounts {
  if (column.kind === 'numeric') return countNumbers(column.values, new Set(numbersAmong(texts)));
  if (!column.labels.some((label) => texts.has(label))) return {};
  return countsOf(countLabels(column).filter(({ label }) => label !== '' && texts.has(label)));
}

function countNumbers(values: Float64Array, numbers: ReadonlySet<number>): LabelCounts {
  const counts = new Map<number, number>();
  if (numbers.size > 0) {
    for (const value of values) if (numbers.has(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return countsOf([...counts].map(([value, count]) => ({ label: String(value), count })));
}

/** Returns the sets of labels that look alike: labels that differ only by case, by spaces or by their Unicode form. */
function lookAlikes(labels: readonly string[]): string[][] {
  const alike = groupBy(labels, (label) => {
    // ASCII text without spaces has one Unicode form.
    if (/^[!-~]*$/.test(label)) return label.toLowerCase();
    return label
      .normalize('NFKC')
      .replaceAll(/[\s\u200B-\u200D\u2060\uFEFF]+/gu, '')
      .toLowerCase()
      .normalize('NFKC');
  });
  return [...alike.values()].filter((own) => own.length > 1);
}

/**
 * Merges several readings of the same column, which was read in parts, into one reading per column. Row counts are
 * added.
 */
export function mergeReadings(readings: readonly ColumnReading[]): ColumnReading[] {
  const ofColumns = groupBy(readings, ({ role, name }) => JSON.stringify([role, name]));
  return Array.from(ofColumns.values(), (parts) => {
    const add = (counts: 'positive' | 'negative' | 'missing' | 'groups'): LabelCounts =>
      countsOf(addUp(parts.flatMap((part) => entriesOf(part[counts]))));
    return {
      ...parts.reduce((all, part) => ({ ...all, ...part })),
      positive: add('positive'),
      negative: add('negative'),
      missing: add('missing'),
      groups: add('groups'),
    };
  });
}

function addUp(
  labels: readonly { readonly label: string; readonly count: number }[],
): { label: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { label, count } of labels) counts.set(label, (counts.get(label) ?? 0) + count);
  return Array.from(counts, ([label, count]) => ({ label, count }));
}

/** Returns the warnings about how columns were interpreted. */
export function readingWarnings(readings: readonly ColumnReading[]): string[] {
  return [
    ...new Set(
      readings.flatMap((reading) => [
        ...labelWarnings(reading),
        ...groupWarnings(reading),
        ...missingWarnings(reading),
      ]),
    ),
  ];
}

function labelWarnings({ role, name, positiveLabel, positive, negative }: ColumnReading): string[] {
  if (positiveLabel === undefined) return [];
  const who = inWords(role, name);
  const all = { ...positive, ...negative };
  const alike = lookAlikes(Object.keys(all));
  const negatives = Object.keys(negative).length;
  const doubtful = Object.keys(negative).filter(oftenMeansMissing);
  const advice =
    doubtful.length === 0
      ? ''
      : `; ${doubtful.map((label) => `'${label}'`).join(', ')} may mean a missing value: use --na-values (naValues) to exclude such rows`;
  return [
    ...(alike.length === 0
      ? []
      : [
          `labels of the ${who} differ only by case, spaces or Unicode form: ${setsInWords(alike, all)}; each counts as a separate label, and only '${positiveLabel}' counts as positive`,
        ]),
    ...(negatives < 2
      ? []
      : [
          `${String(negatives)} labels of the ${who} count as negative: ${countsInWords(negative)}; only '${positiveLabel}' counts as positive${advice}`,
        ]),
  ];
}

/**
 * Returns the warning about groups whose labels look alike; an empty list if there are none.
 * @param unit what the counts are numbers of
 */
export function alikeGroupWarnings(
  name: string,
  labels: readonly { readonly label: string; readonly count: number }[],
  unit: 'row' | 'event' = 'row',
): string[] {
  const groups = countsOf(labels);
  const alike = lookAlikes(Object.keys(groups));
  if (alike.length === 0) return [];
  return [
    `groups of '${name}' differ only by case, spaces or Unicode form: ${setsInWords(alike, groups, unit)}; each is measured as a separate group`,
  ];
}

function groupWarnings({ name, groups }: ColumnReading): string[] {
  const missing = Object.fromEntries(Object.entries(groups).filter(([label]) => oftenMeansMissing(label)));
  const who = `groups of '${name ?? ''}'`;
  return [
    ...alikeGroupWarnings(name ?? '', entriesOf(groups)),
    ...(Object.keys(missing).length === 0
      ? []
      : [
          `${who} have names that often mean a missing value: ${countsInWords(missing)}; they are measured as groups; use --na-values (naValues) to exclude their rows`,
        ]),
  ];
}

function missingWarnings({ role, name, missing }: ColumnReading): string[] {
  const rows = Object.values(missing).reduce((sum, count) => sum + count, 0);
  if (rows === 0) return [];
  return [
    `the ${inWords(role, name)} are missing where they hold one of these texts: ${countsInWords(missing)}; --na-values (naValues) lists these texts`,
  ];
}

function inWords(role: ColumnRole, name: string | undefined): string {
  return name === undefined ? role : `${role} of '${name}'`;
}

const SHOWN_LABELS = 12;

function countsInWords(counts: LabelCounts, unit: 'row' | 'event' = 'row'): string {
  const entries = Object.entries(counts);
  const shown = entries.slice(0, SHOWN_LABELS).map(([label, count]) => `'${label}' (${counted(count, unit)})`);
  const more = entries.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`;
}

function setsInWords(sets: readonly (readonly string[])[], counts: LabelCounts, unit: 'row' | 'event' = 'row'): string {
  return sets
    .slice(0, SHOWN_LABELS)
    .map((own) => countsInWords(Object.fromEntries(own.map((label) => [label, counts[label] ?? 0])), unit))
    .join('; ');
}

function entriesOf(counts: LabelCounts): { label: string; count: number }[] {
  return Object.entries(counts).map(([label, count]) => ({ label, count }));
}

/**
 * Returns counts by label, sorted by label. `fromEntries` defines own properties, so even the label `__proto__` is
 * safe.
 */
function countsOf(labels: readonly { readonly label: string; readonly count: number }[]): LabelCounts {
  const sorted = labels.filter(({ count }) => count > 0).sort((a, b) => (a.label < b.label ? -1 : 1));
  return Object.fromEntries(sorted.map(({ label, count }) => [label, count]));
}
