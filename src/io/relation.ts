import { DataValidationError } from '../exceptions/index.ts';
import type { DecimalSeparator } from '../schemas/data-source.ts';
import { unknownColumn } from '../table/index.ts';
import type { SqlSession } from './sql-engine.ts';

/** The storage kinds of columns. A decimal has a fixed number of exact digits. */
export type StoredKind = 'integer' | 'decimal' | 'fraction' | 'boolean' | 'text';

/** A file or a query that has not been read yet, with its columns and its SQL expression. */
export interface Relation {
  /** The name of the file or query in error messages: `'rows.csv'` or `the query`. */
  readonly title: string;
  /** The SQL expression after FROM. */
  readonly relation: string;
  readonly columns: ReadonlyMap<string, StoredKind>;
  /** The names that more than one column has. Columns with such a name cannot be used. */
  readonly ambiguous: readonly string[];
  /** The SQL expression after FROM for the lines of a JSON file as text; undefined for other sources. */
  readonly jsonLines?: string | undefined;
  /** Whether the first rows can be read quickly, without the others. */
  readonly hasQuickStart?: boolean | undefined;
  /** If equal rows are counted already: the column of their number, and the rows themselves. */
  readonly counted?: { readonly column: string; readonly rows: Relation } | undefined;
  /** Alternative ways to read the text files of the relation; undefined for sources that are not text files. */
  readonly csv: CsvSource | undefined;
}

/** Returns the SQL aggregate that counts the rows of a relation. */
export function rowCount({ counted }: Pick<Relation, 'counted'>): string {
  return counted === undefined ? 'count(*)' : `sum(${counted.column})`;
}

/** The ways to read the text files of a relation. */
export interface CsvSource {
  readonly decimal: DecimalSeparator;
  /** Returns the SQL expression after FROM that reads the named columns as text. */
  readonly withTexts: (names: readonly string[]) => string;
  /** Returns the relation with types that are inferred from all rows. */
  readonly withAllRows: () => Promise<Relation>;
  /** Returns the error for a query that failed. The error names the file and the line. */
  readonly explain: (cause: unknown) => Promise<unknown>;
}

/** Returns whether values of a kind are numbers. */
export function isNumeric(kind: StoredKind): boolean {
  return kind === 'integer' || kind === 'decimal' || kind === 'fraction';
}

/** Returns whether a relation has exactly one column of a name. */
export function hasColumn({ columns, ambiguous }: Relation, name: string): boolean {
  return columns.has(name) && !ambiguous.includes(name);
}

/**
 * Returns the kind of a column.
 * @throws {DataValidationError} if no column or more than one column has this name; if there is no such column, the
 *   error suggests similar names
 */
export function columnKind({ title, columns, ambiguous }: Relation, name: string): StoredKind {
  const subject = title.charAt(0).toUpperCase() + title.slice(1);
  if (ambiguous.includes(name)) {
    throw new DataValidationError(
      `${subject} has more than one column '${name}' (column names are case-insensitive).`,
      { code: 'duplicate-column', context: { column: name }, suggestion: 'Rename the columns.' },
    );
  }
  const kind = columns.get(name);
  if (kind === undefined) throw unknownColumn(name, [...columns.keys()], subject);
  return kind;
}

/** Returns the columns of a SQL expression after FROM, and their kinds. */
export async function describe(session: SqlSession, relation: string): Promise<Map<string, StoredKind>> {
  const rows = await session.rows(`DESCRIBE SELECT * FROM ${relation}`);
  return new Map(rows.map(([name, type]) => [String(name), storedKind(String(type))]));
}

/** The number of relations that one statement describes. */
const MAX_DESCRIBED = 100;

/** Returns the columns of each SQL expression after FROM, and their kinds. */
export async function describeAll(
  session: SqlSession,
  relations: readonly string[],
): Promise<Map<string, StoredKind>[]> {
  const described = relations.map(() => new Map<string, StoredKind>());
  for (let start = 0; start < relations.length; start += MAX_DESCRIBED) {
    const selected = relations
      .slice(start, start + MAX_DESCRIBED)
      .map(
        (relation, index) =>
          `SELECT ${String(start + index)}, column_name, column_type FROM (DESCRIBE SELECT * FROM ${relation})`,
      );
    const rows = await session.rows(selected.join(' UNION ALL '));
    for (const [index, name, type] of rows) described[Number(index)]?.set(String(name), storedKind(String(type)));
  }
  return described;
}

/** Returns names that occur more than once. SQL ignores case in names, and renames later columns with the same name. */
export function repeatedNames(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return names.filter((name) => (counts.get(name.toLowerCase()) ?? 0) > 1);
}

function storedKind(type: string): StoredKind {
  if (type === 'BOOLEAN') return 'boolean';
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer';
  if (type.startsWith('DECIMAL')) return 'decimal';
  return /^(FLOAT|DOUBLE)$/.test(type) ? 'fraction' : 'text';
}
