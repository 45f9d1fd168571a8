import { type CrossCounts, crossCounts } from '../../stats/association/cross-counts.ts';
import { type VarianceParts, varianceParts } from '../../stats/association/variance-parts.ts';
import {
  type CategoricalColumn,
  type Column,
  encodeGroups,
  INTERSECTION_SEPARATOR,
  type NumericColumn,
  type Table,
} from '../../table/index.ts';

/** An attribute, with the number of rows of each of its groups. */
export interface AttributeGroups {
  /** The column, or the columns of an intersection joined by `||`. */
  readonly name: string;
  readonly columns: readonly string[];
  /** The labels of the groups. */
  readonly labels: readonly string[];
  /** The number of rows of each group, in the order of the labels. */
  readonly counts: Float64Array;
  /** The number of rows that have a group. */
  readonly n: number;
  /** The number of rows without a group. These rows are excluded. */
  readonly nMissing: number;
}

/** The texts of a column, counted by group. */
export interface TextSpread {
  readonly kind: 'texts';
  /** The number of rows of each group (row of the table) with each text (column of the table). */
  readonly table: CrossCounts;
  /** The texts. */
  readonly levels: readonly string[];
  /** The number of rows of each group that have a value. */
  readonly present: Float64Array;
}

/** The numbers of a column, summarised by group. */
export interface NumberSpread {
  readonly kind: 'numbers';
  readonly parts: VarianceParts;
  readonly means: Float64Array;
  /** The number of rows of each group that have a value. */
  readonly present: Float64Array;
}

/** How the values of a column are spread over the groups of an attribute. */
export type Spread = TextSpread | NumberSpread;

/** The data that detectors analyse: rows in memory, or counts and sums of a database. */
export interface DetectorData {
  /** The name of the data in messages. */
  readonly title: string;
  readonly columnNames: readonly string[];
  readonly rowCount: number;
  /** Returns the reason why a column is not tested; undefined if it is tested. */
  readonly skipReason: (column: string) => string | undefined | Promise<string | undefined>;
  readonly groups: (columns: readonly string[]) => AttributeGroups | Promise<AttributeGroups>;
  readonly spread: (column: string, attribute: AttributeGroups) => Spread | Promise<Spread>;
}

/** What decides whether a column of texts is tested. */
export interface TextFacts {
  /** The number of rows that have a value. */
  readonly present: number;
  readonly distinct: number;
}

/** What decides whether a column of numbers is tested. */
export interface NumberFacts {
  /** The number of rows that have a value. */
  readonly present: number;
  readonly low: number;
  readonly high: number;
  readonly areIntegers: boolean;
}

/** A text column counts as an identifier if the number of its distinct values is above this share of its rows. */
const IDENTIFIER_SHARE = 0.9;

/**
 * The minimum number of rows for which a column of numbers is checked for a sequence. In fewer rows, distinct whole
 * numbers such as ages may be close together by chance.
 */
const MIN_ROWS_OF_A_SEQUENCE = 50;

/** Patterns of names of identifiers: id, customer_id, Customer ID, userId, uuid, index, row number. */
const IDENTIFIER_NAMES = [/(^|[^a-z])(id|uuid|guid|index|row[ _]?(nr|number))$/i, /[a-z]I[dD]$/];

/** Returns the reason why a column of texts is not tested: more than nine in ten of its values are distinct. */
export function textReason({ present, distinct }: TextFacts): string | undefined {
  if (distinct === 0) return 'it has no values';
  if (distinct === 1) return 'all its values are the same';
  if (distinct <= IDENTIFIER_SHARE * present) return undefined;
  return `it looks like an identifier: ${String(distinct)} distinct values in ${String(present)} rows`;
}

/** Returns the reason why a column of numbers is not tested, if it does not look like an identifier. */
export function numberReason({ present, low, high }: NumberFacts): string | undefined {
  if (present === 0) return 'it has no values';
  return low === high ? 'all its values are the same' : undefined;
}

/**
 * Returns whether a column of numbers is an identifier if all its numbers differ: whole numbers under a name that looks
 * like the name of an identifier, or whole numbers that are as close together as the numbers of a sequence.
 */
export function mayIdentify(name: string, { present, low, high, areIntegers }: NumberFacts): boolean {
  const isDense = present >= MIN_ROWS_OF_A_SEQUENCE && high - low < 2 * present;
  const hasRoom = high - low >= present - 1;
  return areIntegers && hasRoom && (isDense || IDENTIFIER_NAMES.some((pattern) => pattern.test(name)));
}

/** Returns the reason why a column of different whole numbers is not tested. */
export function identifierReason(present: number): string {
  return `it looks like an identifier: ${String(present)} distinct whole numbers`;
}

/** Returns rows in memory as data for detectors. */
export function detectorDataOfTable(table: Table): DetectorData {
  const codesOf = new WeakMap<AttributeGroups, Int32Array>();
  return {
    title: 'The table',
    columnNames: table.columnNames,
    rowCount: table.rowCount,
    skipReason(name) {
      const column = table.column(name);
      return column.kind === 'numeric' ? reasonOfNumbers(name, column) : textReason(factsOfTexts(column));
    },
    groups(columns) {
      const { codes, labels } = encodeGroups(table.select(columns));
      const counts = new Float64Array(labels.length);
      for (const code of codes) if (code >= 0) counts[code] = (counts[code] as number) + 1;
      const groups = attributeGroups(columns, labels, counts, table.rowCount);
      codesOf.set(groups, codes);
      return groups;
    },
    spread: (name, attribute) =>
      spreadOf(table.column(name), codesOf.get(attribute) as Int32Array, attribute.labels.length),
  };
}

/** Returns an attribute from the counts of its groups. */
export function attributeGroups(
  columns: readonly string[],
  labels: readonly string[],
  counts: Float64Array,
  rowCount: number,
): AttributeGroups {
  const n = counts.reduce((sum, count) => sum + count, 0);
  return { name: attributeName(columns), columns, labels, counts, n, nMissing: rowCount - n };
}

/** Returns the name of an attribute: its column, or the columns of an intersection joined by `||`. */
export function attributeName(columns: readonly string[]): string {
  return columns.join(INTERSECTION_SEPARATOR);
}

function factsOfTexts({ codes, labels }: CategoricalColumn): TextFacts {
  const seen = new Uint8Array(labels.length);
  let present = 0;
  for (const code of codes) {
    if (code < 0) continue;
    seen[code] = 1;
    present += 1;
  }
  return { present, distinct: seen.reduce((sum, mark) => sum + mark, 0) };
}

function reasonOfNumbers(name: string, { values }: NumericColumn): string | undefined {
  let [present, low, high, areIntegers] = [0, Infinity, -Infinity, true];
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    if (!Number.isFinite(value)) return `it holds an infinite value in row ${String(row + 1)}`;
    present += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
    areIntegers &&= Number.isInteger(value);
  }
  const facts = { present, low, high, areIntegers };
  const reason = numberReason(facts);
  if (reason !== undefined || !mayIdentify(name, facts) || !areDifferent(values)) return reason;
  return identifierReason(present);
}

function areDifferent(values: Float64Array): boolean {
  // Missing values are sorted last, and NaN is not equal to itself.
  const sorted = values.slice().sort();
  return sorted.every((value, index) => index === 0 || value !== sorted[index - 1]);
}

function spreadOf(column: Column, codes: Int32Array, groups: number): Spread {
  if (column.kind === 'numeric') {
    const parts = varianceParts(column.values, codes, groups);
    return { kind: 'numbers', parts, ...meansOf(column.values, codes, groups) };
  }
  const table = crossCounts(codes, column.codes, groups, column.labels.length);
  return { kind: 'texts', table, levels: column.labels, present: table.rowTotals };
}

function meansOf(values: Float64Array, codes: Int32Array, groups: number): Pick<NumberSpread, 'present' | 'means'> {
  const present = new Float64Array(groups);
  const means = new Float64Array(groups);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const group = codes[row] as number;
    if (group < 0 || Number.isNaN(value)) continue;
    (present[group] as number) += 1;
    // A running mean is used, because a sum may overflow.
    (means[group] as number) +=
      value / (present[group] as number) - (means[group] as number) / (present[group] as number);
  }
  return { present, means };
}
