import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';

import { importOptional } from '../internal/optional.ts';

/** Runs SQL and gives its chunks; the only way to DuckDB in this package. */
export interface SqlSession {
  /** The chunks of a query's result, one after another. */
  chunks(sql: string): AsyncIterable<DuckDBDataChunk>;
  /** A small result as rows of plain values. */
  rows(sql: string): Promise<unknown[][]>;
}

/**
 * Opens an in-memory DuckDB, lends it to `work`, and closes it.
 * @throws {DependencyError} where DuckDB's native binary is not installed
 */
export async function withDuckDb<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
  const { DuckDBInstance } = await importOptional(
    '@duckdb/node-api',
    'to read files',
    () => import('@duckdb/node-api'),
  );
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return await work(sessionOf(connection));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function sessionOf(connection: DuckDBConnection): SqlSession {
  return {
    async *chunks(sql) {
      // Not streamed: a stream ends without a word where a late row is at fault.
      const result = await connection.run(sql);
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return;
        yield chunk;
      }
    },
    async rows(sql) {
      return (await connection.runAndReadAll(sql)).getRows();
    },
  };
}
