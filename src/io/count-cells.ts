import { type DataFormat, queryDataFile } from './data-file.ts';
import { withDuckDb } from './duckdb.ts';

/** How large a table is. */
export interface TableSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * How large a file's table is, without loading it: of Parquet what its footer says, of text a scan.
 * @throws {DataValidationError} for a file that cannot be read
 */
export async function tableSize(path: string, format?: DataFormat): Promise<TableSize> {
  return withDuckDb((session) =>
    queryDataFile(session, path, format, async ({ relation, columns }) => {
      const [counted] = await session.rows(`SELECT CAST(count(*) AS DOUBLE) FROM ${relation}`);
      return { rows: Number(counted?.[0]), columns: columns.size };
    }),
  );
}
