import { type DataFormat, queryDataFile } from './data-file.ts';
import { withDuckDb } from './duckdb.ts';

/** The size of a table. */
export interface TableSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Returns the size of the table in a file without loading it: from the footer of Parquet, or by a scan of text.
 * @throws {DataValidationError} if the file cannot be read
 */
export async function tableSize(path: string, format?: DataFormat): Promise<TableSize> {
  return withDuckDb((session) =>
    queryDataFile(session, path, format, async ({ relation, columns }) => {
      const [counted] = await session.rows(`SELECT CAST(count(*) AS DOUBLE) FROM ${relation}`);
      return { rows: Number(counted?.[0]), columns: columns.size };
    }),
  );
}
