import { FairnessToolkitError } from '../exceptions/index.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import { IDENTIFIER_BYTES, type RepeatedIdentifier, repeatedIdentifiersIn } from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';

/**
 * Finds columns that look like identifiers with several rows each, in the first rows of a CSV file. Rows of one person are
 * usually not independent.
 * @param used the columns whose role is known
 * @returns an empty list if the file is not CSV, or cannot be read
 */
export async function findRepeatedIdentifiers(
  { files, decimal }: FoundFiles,
  used: ReadonlySet<string>,
): Promise<readonly RepeatedIdentifier[]> {
  const [file] = files;
  if (file === undefined) return [];
  const { path } = file;
  try {
    const isGzipped = path.endsWith('.gz');
    const start = await readStart(path, isGzipped, IDENTIFIER_BYTES);
    const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
    if (formatOf(isGzipped ? path.slice(0, -3) : path, magic) !== 'csv') return [];
    return repeatedIdentifiersIn(path, start, { used, decimal });
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice.
    if (FairnessToolkitError.isInstance(error) || (error instanceof Error && 'code' in error)) return [];
    throw error;
  }
}
