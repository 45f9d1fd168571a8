import { readFile, stat } from 'node:fs/promises';

import { FairnessToolkitError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { parsePlainCsv, type PlainCsvColumns, type Table } from '../table/index.ts';
import { formatOf } from './data-format.ts';

/** The maximum size of a file in bytes. DuckDB reads lines of up to 2 MiB. */
const MAX_BYTES = 2_000_000;

/**
 * Reads columns of a small CSV file without DuckDB, which takes longer to load than the file takes to read.
 * @returns the columns as {@link parsePlainCsv} reads them. undefined if the file is larger than 2 MB, is not a plain CSV
 *   file or cannot be read; DuckDB then reads it, or reports the problem
 */
export async function readSmallCsv(path: string, columns: PlainCsvColumns): Promise<Table | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_BYTES) return undefined;
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || formatOf(path, bytes.toString('latin1', 0, 4)) !== 'csv') return undefined;
  try {
    return parsePlainCsv(decodeUtf8(bytes, path), columns);
  } catch (error) {
    // Bytes that are not UTF-8.
    if (FairnessToolkitError.isInstance(error)) return undefined;
    throw error;
  }
}
