import { DataValidationError } from '../exceptions/index.ts';
import { unknownColumn } from '../table/index.ts';
import type { CsvSource } from './csv-header.ts';
import type { SqlSession } from './sql-engine.ts';

/** How values of a column are stored, as far as it matters here; a decimal has a fixed number of exact digits. */
export type StoredKind = 'integer' | 'decimal' | 'fraction' | 'boolean' | 'text';

/** A file or a query, looked at but not read: what stands in it and how SQL names it. */
export interface Relation {
  /** What errors call it inside a sentence: `'rows.csv'` or `the query`. */
  readonly title: string;
  /** What stands for it after FROM. */
  readonly relation: string;
  readonly columns: ReadonlyMap<string, StoredKind>;
  /** Names that stand for more than one column, and therefore for none. */
  readonly ambiguous: readonly string[];
  /** What stands for the lines of a file of JSON objects after FROM, as text; undefined for everything else. */
  readonly jsonLines?: string | undefined;
  /** What explains a fault in a text file; undefined for everything else. */
  readonly csv: CsvSource | undefined;
}

/** Whether values of a kind are numbers. */
export function isNumeric(kind: StoredKind): boolean {
  return kind === 'integer' || kind === 'decimal' || kind === 'fraction';
}

/**
 * The kind of a column.
 * @throws {DataValidationError} with the nearest names, where there is none, or where there are two
 */
export function columnKind({ title, columns, ambiguous }: Relation, name: string): StoredKind {
  const subject = title.charAt(0).toUpperCase() + title.slice(1);
  if (ambiguous.includes(name)) {
    throw new DataValidationError(
      `${subject} has more than one column '${name}' (upper and lower case count as one).`,
      {
        context: { column: name },
        suggestion: 'Rename the columns.',
      },
    );
  }
  const kind = columns.get(name);
  if (kind === undefined) throw unknownColumn(name, [...columns.keys()], subject);
  return kind;
}

/** The columns of what stands after FROM, and their kinds. */
export async function describe(session: SqlSession, relation: string): Promise<Map<string, StoredKind>> {
  const rows = await session.rows(`DESCRIBE SELECT * FROM ${relation}`);
  return new Map(rows.map(([name, type]) => [String(name), storedKind(String(type))]));
}

/** SQL knows names without regard to case, and numbers the later ones. */
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
