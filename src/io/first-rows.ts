import { FairnessToolkitError } from '../exceptions/index.ts';
import { type DataFile, type DecimalSeparator, type FoundFiles, isRemote } from '../schemas/data-source.ts';
import { type FirstRows, firstObjectsOf, firstRowsOf, IDENTIFIER_BYTES, namesIdentifiers } from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';
import { isNumeric } from './relation.ts';
import { quoteIdentifier } from './sql-engine.ts';

/** The maximum number of files whose first rows are read. */
const MAX_FILES = 8;

/** The maximum numbers of rows and columns that DuckDB reads. Of a Parquet file, it reads whole blocks of each column. */
const [MAX_ROWS, MAX_COLUMNS] = [5_000, 40];

/** The number of characters of a text that are read: more than an identifier has. */
const MAX_CHARACTERS = 250;

/**
 * Reads the first rows of files, for advice about their columns. Of several text files on this machine, the first rows of
 * the first eight follow each other. DuckDB reads Parquet and remote files: the needed columns, those whose names say that
 * they are identifiers, and others, 40 in all.
 * @returns undefined if the files cannot be read
 */
export async function readFirstRows(
  found: FoundFiles,
  needed: readonly (string | undefined)[] = [],
): Promise<FirstRows | undefined> {
  try {
    return (await readStarts(found)) ?? (await queryFirstRows(found, needed));
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice. Errors of the system have a code that is text.
    const isOfSystem = error instanceof Error && 'code' in error && typeof error.code === 'string';
    if (FairnessToolkitError.isInstance(error) || isOfSystem) return undefined;
    throw error;
  }
}

/** @returns undefined if a file is remote, or the first file is no text */
async function readStarts({ files, decimal }: FoundFiles): Promise<FirstRows | undefined> {
  const [first, ...others] = files.slice(0, MAX_FILES);
  if (first === undefined || files.some(({ path }) => isRemote(path))) return undefined;
  const start = await startOf(first, decimal);
  if (start === undefined) return undefined;
  const parts = [start.rows];
  for (const file of others) {
    const next = await startOf(file, decimal);
    if (next?.names.join() === start.names.join()) parts.push(next.rows);
  }
  return { ...start, rows: parts.flat() };
}

/** Returns the first rows with the texts that CSV files would have. */
async function queryFirstRows(found: FoundFiles, needed: readonly (string | undefined)[]): Promise<FirstRows> {
  const { withDuckDbRelation } = await import('./sql-source.ts');
  return withDuckDbRelation(found, async (session, { columns, csv, relation }) => {
    const rank = (name: string): number => (needed.includes(name) ? 0 : namesIdentifiers(name) ? 1 : 2);
    const names = [...columns.keys()].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_COLUMNS);
    const from = csv === undefined ? relation : csv.withTexts(names);
    const cells = names.map((name) => `left(CAST(${quoteIdentifier(name)} AS VARCHAR), ${String(MAX_CHARACTERS)})`);
    const selected = `SELECT ${cells.join(', ')} FROM ${from} LIMIT ${String(MAX_ROWS)}`;
    const rows = (await session.rows(selected)) as (string | null)[][];
    const isNumber = names.map((name) => csv === undefined && isNumeric(columns.get(name) ?? 'text'));
    // DuckDB writes whole numbers in a column of fractions as '2.0'.
    const textOf = (value: string | null, column: number): string => {
      if (value === null) return '';
      return isNumber[column] === true ? value.replace(/\.0$/, '') : value;
    };
    return {
      names,
      rows: rows.map((row) => row.map(textOf)),
      decimal: csv?.decimal,
      hasLineOfNames: csv !== undefined,
    };
  });
}

/** @returns undefined if the file is no text */
async function startOf({ path }: DataFile, decimal: DecimalSeparator | undefined): Promise<FirstRows | undefined> {
  const isGzipped = path.endsWith('.gz');
  const start = await readStart(path, isGzipped, IDENTIFIER_BYTES);
  const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
  const format = formatOf(isGzipped ? path.slice(0, -3) : path, magic);
  if (format === 'parquet') return undefined;
  return format === 'csv' ? firstRowsOf(path, start, decimal) : firstObjectsOf(path, start);
}
