import { FairnessToolkitError } from '../exceptions/index.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import {
  firstRowsOf,
  IDENTIFIER_BYTES,
  numberOfCell,
  type RepeatedIdentifier,
  repeatedIdentifiersIn,
} from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';

/**
 * Finds columns that look like identifiers with several rows each, in the first rows of a CSV file. Rows of one person are
 * usually not independent.
 * @param used the columns whose role is known
 * @returns an empty list if the file is not CSV, or cannot be read
 */
export function findRepeatedIdentifiers(
  files: FoundFiles,
  used: ReadonlySet<string>,
): Promise<readonly RepeatedIdentifier[]> {
  return inStart(files, (path, start) => repeatedIdentifiersIn(path, start, { used, decimal: files.decimal }));
}

/**
 * Returns the numbers of a column in the first rows of a CSV file.
 * @returns an empty list if the file is not CSV, or cannot be read
 */
export function firstNumbersOf(files: FoundFiles, name: string): Promise<readonly number[]> {
  return inStart(files, (path, start) => {
    const { names, rows } = firstRowsOf(path, start, files.decimal);
    const column = names.indexOf(name);
    return rows.flatMap((row) => numberOfCell(row[column] ?? '', files.decimal) ?? []);
  });
}

/**
 * Returns the names of the columns of a CSV file if they look like a row of data: each is a number, or a value of its own
 * column.
 * @returns an empty list if the names are names, or the file is not CSV, or cannot be read
 */
export function namesLikeData(files: FoundFiles): Promise<readonly string[]> {
  return inStart(files, (path, start) => {
    const { names, rows } = firstRowsOf(path, start, files.decimal);
    const isData = (name: string, column: number): boolean =>
      numberOfCell(name, files.decimal) !== undefined || rows.some((row) => row[column] === name);
    return rows.length > 0 && names.every(isData) ? names : [];
  });
}

/** Reads something from the start of the first file. An empty list stands for a file that is not CSV, or not readable. */
async function inStart<Found>(
  { files }: FoundFiles,
  read: (path: string, start: Uint8Array) => readonly Found[],
): Promise<readonly Found[]> {
  const [file] = files;
  if (file === undefined) return [];
  const { path } = file;
  try {
    const isGzipped = path.endsWith('.gz');
    const start = await readStart(path, isGzipped, IDENTIFIER_BYTES);
    const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
    if (formatOf(isGzipped ? path.slice(0, -3) : path, magic) !== 'csv') return [];
    return read(path, start);
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice.
    if (FairnessToolkitError.isInstance(error) || (error instanceof Error && 'code' in error)) return [];
    throw error;
  }
}
