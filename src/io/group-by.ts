import { joinLabels, missingLabel, type NanPolicy } from '../table/index.ts';
import { columnKind, type DataFile } from './data-file.ts';
import type { SqlSession } from './duckdb.ts';
import { quoteIdentifier } from './sql.ts';

/** What to group a file's rows by, and what to compute of each group. */
export interface GroupByQuery {
  /** Attributes to group by apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly nanPolicy: NanPolicy;
  /** Expressions over the file's columns, named, that keys and sums use. */
  readonly select: Readonly<Record<string, string>>;
  /** Further expressions to group by, each a small whole number. */
  readonly keys: readonly string[];
  /** Aggregates of each group. */
  readonly sums: readonly string[];
}

/** One group of one attribute with one combination of keys. */
export interface GroupedRow {
  /** The group's label; undefined where a part of it is missing and such rows are left out. */
  readonly label: string | undefined;
  readonly keys: readonly number[];
  readonly sums: readonly number[];
}

/**
 * Groups the rows of a file in one scan, however many attributes.
 * @returns the groups of each attribute, in the order of the attributes
 */
export async function groupRows(session: SqlSession, file: DataFile, query: GroupByQuery): Promise<GroupedRow[][]> {
  const names = [...new Set(query.attributes.flat())];
  const rows = await session.rows(groupingSql(file, query, names));
  return query.attributes.map((attribute) => {
    const own = rows.filter((row) =>
      names.every((name, place) => attribute.includes(name) === isGroupedBy(row, names, place)),
    );
    const parts = own.map((row) => attribute.map((name) => textOf(row[names.indexOf(name)])));
    const labels = labelsOf(parts, query.nanPolicy);
    return own.map((row, index) => {
      const numbers = row.slice(2 * names.length).map((value) => (value === null ? NaN : Number(value)));
      const [keys, sums] = [numbers.slice(0, query.keys.length), numbers.slice(query.keys.length)];
      return { label: labels[index], keys, sums };
    });
  });
}

/** One row of the result is the columns' values, a 0 or 1 for each that is grouped by or not, the keys, the sums. */
function groupingSql(
  file: DataFile,
  { attributes, select, keys, sums }: GroupByQuery,
  names: readonly string[],
): string {
  const column = (name: string): string => `g${String(names.indexOf(name))}`;
  const keyNames = keys.map((_, index) => `k${String(index)}`);
  const sets = attributes.map((attribute) => `(${[...new Set(attribute.map(column).sort()), ...keyNames].join(', ')})`);
  const inner = [
    ...names.map((name) => `${quoteIdentifier(name)} AS ${column(name)}`),
    ...Object.entries(select).map(([name, expression]) => `${expression} AS ${name}`),
  ];
  // The keys are computed once, below the grouping, so that they can be named in every grouping set.
  const middle = ['*', ...keys.map((key, index) => `${key} AS k${String(index)}`)];
  const outer = [
    // Fractions go through numbers, so that 1.0 is the label '1' as it is elsewhere; whole numbers keep all digits.
    ...names.map((name) => `CAST(${column(name)} AS ${columnKind(file, name) === 'fraction' ? 'DOUBLE' : 'VARCHAR'})`),
    ...names.map((name) => `GROUPING(${column(name)})`),
    ...keyNames.map((name) => `CAST(${name} AS INTEGER)`),
    ...sums.map((sum) => `CAST(${sum} AS DOUBLE)`),
  ];
  return `SELECT ${outer.join(', ')} FROM (SELECT ${middle.join(', ')} FROM (SELECT ${inner.join(', ')} FROM ${file.relation}))
    GROUP BY GROUPING SETS (${[...new Set(sets)].join(', ')})`;
}

function isGroupedBy(row: readonly unknown[], names: readonly string[], place: number): boolean {
  return Number(row[names.length + place]) === 0;
}

/** Columns to group by come as text or as numbers. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : String(value);
  return typeof value === 'string' ? value : undefined;
}

/** Labels of groups from their parts; distinct groups have distinct labels. */
function labelsOf(rows: readonly (readonly (string | undefined)[])[], nanPolicy: NanPolicy): (string | undefined)[] {
  const width = rows[0]?.length ?? 0;
  const missing = Array.from({ length: width }, (_, place) => missingLabel(rows.map((row) => row[place])));
  const isLeftOut = rows.map((row) => nanPolicy !== 'include' && row.includes(undefined));
  const labels = joinLabels(rows.map((row) => row.map((part, place) => part ?? missing[place] ?? '')));
  return labels.map((label, index) => (isLeftOut[index] === true ? undefined : label));
}
