import { FairnessToolkitError } from '../exceptions/index.ts';
import type { DataFile, DecimalSeparator, FoundFiles } from '../schemas/data-source.ts';
import {
  type FirstRows,
  firstRowsOf,
  IDENTIFIER_BYTES,
  type RepeatedIdentifier,
  repeatedIdentifiersIn,
} from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';

/** The maximum number of files whose first rows are read. */
const MAX_FILES = 8;

/**
 * Reads the first rows of CSV files, for advice about their columns. Of several files, the first rows of the first eight
 * follow each other.
 * @returns undefined if the first file is not CSV, or cannot be read
 */
export async function readFirstRows({ files, decimal }: FoundFiles): Promise<FirstRows | undefined> {
  const [first, ...others] = files.slice(0, MAX_FILES);
  const start = first && (await startOf(first, decimal));
  if (start === undefined) return undefined;
  const parts = [start.rows];
  for (const file of others) {
    const next = await startOf(file, decimal);
    if (next?.names.join() === start.names.join()) parts.push(next.rows);
  }
  return { ...start, rows: parts.flat() };
}

/**
 * Finds columns that look like identifiers with several rows each, in the first rows of CSV files. Rows of one person are
 * usually not independent.
 * @param used the columns whose role is known
 */
export async function findRepeatedIdentifiers(
  files: FoundFiles,
  used: readonly string[],
): Promise<readonly RepeatedIdentifier[]> {
  const rows = await readFirstRows(files);
  return rows === undefined ? [] : repeatedIdentifiersIn(rows, new Set(used));
}

async function startOf({ path }: DataFile, decimal: DecimalSeparator | undefined): Promise<FirstRows | undefined> {
  try {
    const isGzipped = path.endsWith('.gz');
    const start = await readStart(path, isGzipped, IDENTIFIER_BYTES);
    const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
    if (formatOf(isGzipped ? path.slice(0, -3) : path, magic) !== 'csv') return undefined;
    return firstRowsOf(path, start, decimal);
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice.
    if (FairnessToolkitError.isInstance(error) || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
