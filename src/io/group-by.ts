import {
  type CategoricalColumn,
  type ColumnReading,
  joinLabels,
  missingLabel,
  type NanPolicy,
  sortLabels,
} from '../table/index.ts';
import { assertNoFault, type Check } from './checks.ts';
import type { Relation } from './relation.ts';
import { quoteIdentifier, type RowsOptions, type SqlSession } from './sql-engine.ts';
import { groupExpression, groupLabelOf, groupOutput } from './value-sql.ts';

/** The rows of a relation as the queries around them see them: `g0`, `g1` … to group by, named values, `f0`, `f1` … */
export interface RowsQuery {
  /** The columns to group by. */
  readonly names: readonly string[];
  /** Expressions over the relation's columns, named. */
  readonly select: Readonly<Record<string, string>>;
  /** What must hold of no row. */
  readonly checks: readonly Check[];
}

/** What to group rows by, and what to compute of each group. */
export interface GroupByQuery extends Omit<RowsQuery, 'names'>, RowsOptions {
  /** Attributes to group by apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly nanPolicy: NanPolicy;
  /** Expressions over what is selected to group by too, each a small whole number. */
  readonly keys: readonly string[];
  /** Aggregates of what is selected. */
  readonly sums: readonly string[];
}

/** The groups of one attribute, and one row for each combination of group and keys. */
export interface AttributeRows extends GroupIndex {
  readonly rows: readonly GroupedRow[];
}

/** The sums of one group with one combination of keys. */
interface GroupedRow {
  /** An index into the groups; -1 for rows of no group. */
  readonly group: number;
  readonly keys: readonly number[];
  readonly sums: readonly number[];
}

/** What a reduction gives for one attribute. */
export interface SourceReduction<Part> {
  readonly groups: readonly SourceGroup[];
  readonly parts: readonly Part[];
  /** All rows of the source. */
  readonly rowCount: number;
  /** What labels and texts were read as. */
  readonly readings?: readonly ColumnReading[] | undefined;
}

/**
 * Groups the rows of a relation in one scan, however many attributes.
 * @returns the groups of each attribute, in the order of the attributes
 * @throws {DataValidationError} where a check finds a row at fault
 */
export async function groupRows(
  session: SqlSession,
  relation: Relation,
  query: GroupByQuery,
): Promise<AttributeRows[]> {
  const names = [...new Set(query.attributes.flat())];
  const rows = await session.rows(groupingSql(relation, query, names), { ordered: query.ordered ?? false });
  const end = rows[0]?.length ?? 0;
  const firstCheck = end - query.checks.length;
  await assertNoFault(session, relation, query.checks, sumColumns(rows, firstCheck, end));
  return query.attributes.map((attribute) => {
    const own = rows.filter((row) =>
      names.every((name, place) => attribute.includes(name) === isGroupedBy(row, names, place)),
    );
    const tuples = own.map((row) => attribute.map((name) => groupLabelOf(relation, row[names.indexOf(name)])));
    const index = indexGroups(tuples, query.nanPolicy);
    const firstSum = 2 * names.length + query.keys.length;
    return {
      ...index,
      rows: own.map((row, place) => ({
        group: index.find(tuples[place] as readonly string[]),
        keys: toNumbers(row.slice(2 * names.length, firstSum)),
        sums: toNumbers(row.slice(firstSum, firstCheck)),
      })),
    };
  });
}

/** Adds up the rows that lack a value, by group; those of no group (-1) are left out. */
export function droppedRows(
  groups: number,
  lacking: readonly { readonly group: number; readonly count: number }[],
): Float64Array {
  const dropped = new Float64Array(groups);
  for (const { group, count } of lacking) {
    if (group >= 0) dropped[group] = (dropped[group] as number) + count;
  }
  return dropped;
}

/** Selects the rows of a relation for grouping; the relation's own names end here and cannot be mistaken for ours. */
export function rowsSql(relation: Relation, { names, select, checks }: RowsQuery): string {
  const selected = [
    ...names.map((name, place) => `${groupExpression(relation, name)} AS g${String(place)}`),
    ...Object.entries(select).map(([name, expression]) => `${expression} AS ${quoteIdentifier(name)}`),
    ...checks.map(({ condition }, place) => `(${condition}) AS f${String(place)}`),
  ];
  return `SELECT ${selected.join(', ')} FROM ${relation.relation}`;
}

/** Counts of the rows at fault, by check. */
export function checkSums(checks: readonly Check[]): string[] {
  return checks.map((_, place) => `count_if(f${String(place)})`);
}

/** Numbers of a result's row; NaN where there is none. */
export function toNumbers(values: readonly unknown[]): number[] {
  return values.map((value) => (value === null ? NaN : Number(value)));
}

/** Sums of the columns of a result from one place up to another. */
export function sumColumns(rows: readonly (readonly unknown[])[], from: number, to: number): number[] {
  const sums = new Array<number>(to - from).fill(0);
  for (const row of rows) sums.forEach((sum, place) => (sums[place] = sum + Number(row[from + place])));
  return sums;
}

/** One row of the result is the columns' values, a 0 or 1 for each that is grouped by or not, the keys, the sums, the checks. */
function groupingSql(relation: Relation, query: GroupByQuery, names: readonly string[]): string {
  const { attributes, keys, sums, checks } = query;
  const column = (name: string): string => `g${String(names.indexOf(name))}`;
  const keyNames = keys.map((_, index) => `k${String(index)}`);
  const sets = attributes.map((attribute) => `(${[...new Set(attribute.map(column).sort()), ...keyNames].join(', ')})`);
  // The keys are computed once, below the grouping, so that they can be named in every grouping set.
  const middle = ['*', ...keys.map((key, index) => `${key} AS k${String(index)}`)];
  const outer = [
    ...names.map((name) => groupOutput(relation, name, column(name))),
    ...names.map((name) => `GROUPING(${column(name)})`),
    ...keyNames.map((name) => `CAST(${name} AS INTEGER)`),
    ...[...sums, ...checkSums(checks)].map((sum) => `CAST(${sum} AS DOUBLE)`),
  ];
  return `SELECT ${outer.join(', ')} FROM (SELECT ${middle.join(', ')} FROM (${rowsSql(relation, { ...query, names })}))
    GROUP BY GROUPING SETS (${[...new Set(sets)].join(', ')})`;
}

function isGroupedBy(row: readonly unknown[], names: readonly string[], place: number): boolean {
  return Number(row[names.length + place]) === 0;
}

/** One group of an attribute: its label, and the values of the attribute's columns that make it. */
export interface SourceGroup {
  readonly label: string;
  readonly parts: readonly string[];
}

/** The groups of one attribute, in the order of their labels. */
interface GroupIndex {
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
