import { FairnessToolkitError } from '../exceptions/index.ts';
import { type DataFile, type DecimalSeparator, type FoundFiles, isRemote } from '../schemas/data-source.ts';
import { type FirstRows, firstRowsOf, IDENTIFIER_BYTES } from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';
import { isNumeric } from './relation.ts';
import { quoteIdentifier } from './sql-engine.ts';

/** The maximum number of files whose first rows are read. */
const MAX_FILES = 8;

/** The maximum numbers of rows and of values that DuckDB reads. */
const MAX_ROWS = 10_000;
const MAX_VALUES = 200_000;

/** The number of characters of a text that are read: more than an identifier has. */
const MAX_CHARACTERS = 250;

/**
 * Reads the first rows of files, for advice about their columns. Of several CSV files on this machine, the first rows of
 * the first eight follow each other. DuckDB reads other formats, and remote files.
 * @returns undefined if the files cannot be read
 */
export async function readFirstRows(found: FoundFiles): Promise<FirstRows | undefined> {
  try {
    return (await readStarts(found)) ?? (await queryFirstRows(found));
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice.
    if (FairnessToolkitError.isInstance(error) || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

/** @returns undefined if a file is remote, or the first file is not CSV */
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
async function queryFirstRows(found: FoundFiles): Promise<FirstRows> {
  const { withDuckDbRelation } = await import('./sql-source.ts');
  return withDuckDbRelation(found, async (session, { columns, csv, relation }) => {
    const names = [...columns.keys()];
    const from = csv === undefined ? relation : csv.withTexts(names);
    const count = Math.min(MAX_ROWS, Math.ceil(MAX_VALUES / names.length));
    const cells = names.map((name) => `left(CAST(${quoteIdentifier(name)} AS VARCHAR), ${String(MAX_CHARACTERS)})`);
    const rows = (await session.rows(`SELECT ${cells.join(', ')} FROM ${from} LIMIT ${String(count)}`)) as (
      string | null
    )[][];
    const isNumber = names.map((name) => csv === undefined && isNumeric(columns.get(name) ?? 'text'));
    // DuckDB writes whole numbers in a column of fractions as '2.0'.
    const textOf = (value: string | null, column: number): string => {
      if (value === null) return '';
      return isNumber[column] === true ? value.replace(/\.0$/, '') : value;
    };
    return { names, rows: rows.map((row) => row.map(textOf)), decimal: csv?.decimal };
  });
}

/** @returns undefined if the file is not CSV */
async function startOf({ path }: DataFile, decimal: DecimalSeparator | undefined): Promise<FirstRows | undefined> {
  const isGzipped = path.endsWith('.gz');
  const start = await readStart(path, isGzipped, IDENTIFIER_BYTES);
  const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
  if (formatOf(isGzipped ? path.slice(0, -3) : path, magic) !== 'csv') return undefined;
  return firstRowsOf(path, start, decimal);
}
