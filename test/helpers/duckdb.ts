import { DuckDBInstance } from '@duckdb/node-api';

/** Runs one statement in a new DuckDB instance. */
export async function runDuckDb(sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}
