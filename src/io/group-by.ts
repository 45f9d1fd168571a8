import {
  type CategoricalColumn,
  type ColumnReading,
  joinLabels,
  missingLabel,
  type NanPolicy,
  sortLabels,
} from '../table/index.ts';
import { assertNoProblem, type Check } from './checks.ts';
import type { Relation } from './relation.ts';
import { quoteIdentifier, type RowsOptions, type SqlSession } from './sql-engine.ts';
import { groupExpression, groupLabelOf, groupOutput } from './value-sql.ts';

/**
 * The columns of an inner query: `g0`, `g1` … are the grouping columns, `f0`, `f1` … are the conditions of the checks,
 * and all others are named values.
 */
export interface RowsQuery {
  /** The columns to group by. */
  readonly names: readonly string[];
  /** The SQL expressions for the values, by the name of the value. They use the columns of the relation. */
  readonly select: Readonly<Record<string, string>>;
  /** Conditions that mark rows as invalid. */
  readonly checks: readonly Check[];
}

/** The grouping of rows, and the values to compute for each group. */
export interface GroupByQuery extends Omit<RowsQuery, 'names'>, RowsOptions {
  /** Attributes to group by separately. An attribute is one column, or several columns to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly nanPolicy: NanPolicy;
  /** Additional expressions to group by. They use the selected values, and their results are small whole numbers. */
  readonly keys: readonly string[];
  /** Aggregates of the selected values. */
  readonly sums: readonly string[];
}

/** The groups of one attribute, and one row for each combination of a group and key values that occurs. */
export interface AttributeRows extends GroupIndex {
  readonly rows: readonly GroupedRow[];
}

/** The sums for one combination of a group and key values. */
interface GroupedRow {
  /** An index into the groups; -1 for rows without a group. */
  readonly group: number;
  readonly keys: readonly number[];
  readonly sums: readonly number[];
}

/** The result of a reduction for one attribute. */
export interface SourceReduction<Part> {
  readonly groups: readonly SourceGroup[];
  readonly parts: readonly Part[];
  /** The number of rows of the source. */
  readonly rowCount: number;
  /** Descriptions of how labels and texts were interpreted. */
  readonly readings?: readonly ColumnReading[] | undefined;
}

/**
 * Groups the rows of a relation by each attribute. One scan is sufficient for all attributes.
 * @returns the groups of each attribute, in the order of the attributes
 * @throws {DataValidationError} if a check finds an invalid row
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
  await assertNoProblem(session, relation, query.checks, sumColumns(rows, firstCheck, end));
  return query.attributes.map((attribute) => {
    const own = rows.filter((row) =>
      names.every((name, position) => attribute.includes(name) === isGroupedBy(row, names, position)),
    );
    const tuples = own.map((row) => attribute.map((name) => groupLabelOf(relation, row[names.indexOf(name)])));
    const index = indexGroups(tuples, query.nanPolicy);
    const firstSum = 2 * names.length + query.keys.length;
    return {
      ...index,
      rows: own.map((row, position) => ({
        group: index.find(tuples[position] as readonly string[]),
        keys: toNumbers(row.slice(2 * names.length, firstSum)),
        sums: toNumbers(row.slice(firstSum, firstCheck)),
      })),
    };
  });
}

/** Returns the number of rows that lack a value, by group. Rows without a group (-1) are not counted. */
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

/**
 * Returns SQL that selects rows for grouping. All columns are renamed, so that names from the data cannot collide with
 * other names.
 */
export function rowsSql(relation: Relation, { names, select, checks }: RowsQuery): string {
  const selected = [
    ...names.map((name, index) => `${groupExpression(relation, name)} AS g${String(index)}`),
    ...Object.entries(select).map(([name, expression]) => `${expression} AS ${quoteIdentifier(name)}`),
    ...checks.map(({ condition }, index) => `(${condition}) AS f${String(index)}`),
    ...(relation.counted === undefined ? [] : [relation.counted.column]),
  ];
  return `SELECT ${selected.join(', ')} FROM ${relation.relation}`;
}

/** Returns SQL aggregates that count the invalid rows of each check. */
export function checkSums(checks: readonly Check[]): string[] {
  return checks.map((_, index) => `count_if(f${String(index)})`);
}

/** Converts the values of a result row to numbers; NaN for NULL. */
export function toNumbers(values: readonly unknown[]): number[] {
  return values.map((value) => (value === null ? NaN : Number(value)));
}

/**
 * Returns the sum of each column of a result. The columns are those from the index `from` up to, but not including,
 * `to`.
 */
export function sumColumns(rows: readonly (readonly unknown[])[], from: number, to: number): number[] {
  const sums = new Array<number>(to - from).fill(0);
  for (const row of rows) sums.forEach((sum, index) => (sums[index] = sum + Number(row[from + index])));
  return sums;
}

/**
 * Returns the grouping query. Each row of the result contains the values and the GROUPING flags of the columns, the
 * keys, the sums and the checks. The GROUPING flag is 0 if the row is grouped by the column.
 */
function groupingSql(relation: Relation, query: GroupByQuery, names: readonly string[]): string {
  const { attributes, keys, sums, checks } = query;
  const column = (name: string): string => `g${String(names.indexOf(name))}`;
  const keyNames = keys.map((_, index) => `k${String(index)}`);
  const sets = attributes.map((attribute) => `(${[...new Set(attribute.map(column).sort()), ...keyNames].join(', ')})`);
  // The keys are computed in an inner query, so that they can be named in every grouping set.
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

function isGroupedBy(row: readonly unknown[], names: readonly string[], index: number): boolean {
  return Number(row[names.length + index]) === 0;
}

/** A group of an attribute: its label, and the values of the attribute's columns. */
export interface SourceGroup {
  readonly label: string;
  readonly parts: readonly string[];
}

/** The groups of one attribute, in the order of their labels. */
interface GroupIndex {
  readonly groups: readonly SourceGroup[];
  /** Returns the index of the group to which a combination of values belongs; -1 if there is none. */
  find(values: readonly (string | undefined)[]): number;
}

/**
 * Assigns labels to combinations of values, by the same rules as for arrays. Distinct groups have distinct labels.
 * @param tuples the combinations, possibly repeated; a missing value is undefined
 */
export function indexGroups(tuples: readonly (readonly (string | undefined)[])[], nanPolicy: NanPolicy): GroupIndex {
  const missing = Array.from({ length: tuples[0]?.length ?? 0 }, (_, position) =>
    missingLabel(tuples.map((tuple) => tuple[position])),
  );
  const keyOf = (tuple: readonly (string | undefined)[]): string => JSON.stringify(tuple);
  const partsOf = new Map<string, readonly string[]>();
  for (const tuple of tuples) {
    if (nanPolicy !== 'include' && tuple.includes(undefined)) continue;
    partsOf.set(
      keyOf(tuple),
      tuple.map((value, position) => value ?? (missing[position] as string)),
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

/** Sorts groups by label. For a single attribute, the group of rows without a value comes last. */
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
