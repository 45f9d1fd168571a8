/** The formats of data files that can be read. */
export type DataFormat = 'csv' | 'parquet' | 'ndjson';

/** Matches the extensions of files with one JSON object per line. */
const NDJSON_EXTENSIONS = /\.(ndjson|jsonl)$/i;

/**
 * Returns the format of a data file.
 * @param magic the first four bytes of the file as Latin-1
 */
export function formatOf(path: string, magic: string): DataFormat {
  if (magic.startsWith('PAR1') || path.endsWith('.parquet')) return 'parquet';
  return NDJSON_EXTENSIONS.test(path) ? 'ndjson' : 'csv';
}
