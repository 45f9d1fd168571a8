import type { DataFile } from '../schemas/data-source.ts';
import { cannotRead, filePattern } from './csv-header.ts';
import type { StoredKind } from './relation.ts';
import { quoteIdentifier, quoteLiteral } from './sql-engine.ts';

/** The name of the SQL column that contains, for each row, the path of its file. */
export const FILE_COLUMN = 'evenhand file';

/** The folder name that represents a missing value. */
const MISSING = '__HIVE_DEFAULT_PARTITION__';

/** Returns files as a SQL list of file patterns. */
export function fileList(files: readonly DataFile[]): string {
  return `[${files.map(({ path }) => quoteLiteral(filePattern(path))).join(', ')}]`;
}

/**
 * Returns the partition keys of files as columns. A column has the kind integer if all its values are integers,
 * otherwise text.
 * @throws {DataValidationError} if the files have a column with the name of a partition key
 */
export function partitionKinds(
  files: readonly [DataFile, ...DataFile[]],
  columns: ReadonlyMap<string, StoredKind>,
): Map<string, StoredKind> {
  const taken = new Map([...columns.keys()].map((name) => [name.toLowerCase(), name]));
  const kinds = new Map<string, StoredKind>();
  for (const key of files[0].partition.keys()) {
    const column = taken.get(key.toLowerCase());
    if (column !== undefined) {
      throw cannotRead(
        files[0].name,
        `the column '${column}' is also a partition (the folder '${key}=…')`,
        'Rename the column or the folders.',
      );
    }
    const values = new Set(files.map(({ partition }) => partition.get(key)));
    values.delete(MISSING);
    const isInteger = values.size > 0 && [...values].every((value) => /^-?(?:0|[1-9]\d{0,14})$/.test(value ?? ''));
    kinds.set(key, isInteger ? 'integer' : 'text');
  }
  return kinds;
}

/**
 * Returns SQL that adds partition keys as columns. DuckDB's own `hive_partitioning` would also read folders above the
 * data as partitions.
 * @param texts the partition columns that are read as text
 * @param read returns SQL that reads the files with further options
 */
export function withPartitions(
  partitions: ReadonlyMap<string, StoredKind>,
  texts: readonly string[],
  read: (options: readonly string[]) => string,
): string {
  if (partitions.size === 0) return read([]);
  const file = quoteIdentifier(FILE_COLUMN);
  const columns = [...partitions].map(([key, kind]) => {
    const pattern = `.*[/\\\\]${key.replaceAll(/[^\w]/gu, '\\$&')}=([^/\\\\]*)[/\\\\]`;
    const value = `nullif(url_decode(regexp_extract(${file}, ${quoteLiteral(pattern)}, 1, 's')), '${MISSING}')`;
    return `${kind === 'integer' && !texts.includes(key) ? `CAST(${value} AS BIGINT)` : value} AS ${quoteIdentifier(key)}`;
  });
  const source = read([`filename=${quoteLiteral(FILE_COLUMN)}`]);
  return `(SELECT * EXCLUDE (${file}), ${columns.join(', ')} FROM ${source})`;
}
