import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';

import { withinLimits } from './duckdb-limits.ts';
import { quoteIdentifier, type RowsOptions, type SqlSession } from './sql-engine.ts';

/** The exports of the DuckDB package, which is loaded lazily. */
export type DuckDbModule = typeof import('@duckdb/node-api');

/** A connection to DuckDB. All access to DuckDB in this package goes through it. */
export interface DuckDbSession extends SqlSession {
  /** Returns the chunks of the result of a query, one after another. */
  chunks(sql: string): AsyncIterable<DuckDBDataChunk>;
  /** Creates a temporary table of columns of equal length: Int32Array as INTEGER, Float64Array as DOUBLE. */
  createTable(name: string, columns: Readonly<Record<string, Int32Array | Float64Array>>): Promise<void>;
}

/** Returns a queue that starts each work after the previous one has ended. */
export function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Wraps a connection in a {@link DuckDbSession}. */
export function sessionOf(
  module: DuckDbModule,
  connection: DuckDBConnection,
  takeTurn: ReturnType<typeof turns>,
): DuckDbSession {
  const rows = async (sql: string): Promise<unknown[][]> =>
    limited(async () => (await connection.runAndReadAll(sql)).getRows());
  return {
    rows: (sql, { ordered = false }: RowsOptions = {}) =>
      // The number of threads is a setting of the database, so ordered queries wait for each other.
      ordered ? takeTurn(() => onOneThread(rows, () => rows(sql))) : rows(sql),
    async *chunks(sql) {
      // Not streamed: a stream ends without an error if a late row is invalid.
      const result = await limited(() => connection.run(sql));
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return;
        yield chunk;
      }
    },
    async createTable(name, columns) {
      const entries = Object.entries(columns);
      const isInteger = entries.map(([, values]) => values instanceof Int32Array);
      const types = isInteger.map((complete) => (complete ? module.INTEGER : module.DOUBLE));
      const declared = entries.map(([column], index) => `${quoteIdentifier(column)} ${String(types[index])}`);
      await limited(async () => {
        await connection.run(`CREATE TEMP TABLE ${quoteIdentifier(name)} (${declared.join(', ')})`);
        await append(
          module,
          connection,
          name,
          types,
          entries.map(([, values]) => values),
        );
      });
    },
  };
}

/** Runs work and converts an out-of-memory error. */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw withinLimits(cause);
  }
}

/** Runs work on one thread, since sums of fractions depend on their order and several threads change it. */
async function onOneThread<T>(rows: SqlSession['rows'], work: () => Promise<T>): Promise<T> {
  const [before] = await rows("SELECT current_setting('threads')");
  await rows('SET threads = 1');
  try {
    return await work();
  } finally {
    await rows(`SET threads = ${String(before?.[0])}`);
  }
}

async function append(
  { DuckDBDataChunk, DuckDBVector }: DuckDbModule,
  connection: DuckDBConnection,
  table: string,
  types: Parameters<DuckDbModule['DuckDBDataChunk']['create']>[0],
  columns: readonly (Int32Array | Float64Array)[],
): Promise<void> {
  const appender = await connection.createAppender(table);
  const rowCount = columns[0]?.length ?? 0;
  const size = DuckDBVector.standardSize();
  for (let start = 0; start < rowCount; start += size) {
    const count = Math.min(size, rowCount - start);
    const chunk = DuckDBDataChunk.create(types, count);
    columns.forEach((values, index) => {
      const vector = chunk.getColumnVector(index) as { setItem(row: number, value: number): void; flush(): void };
      for (let row = 0; row < count; row++) vector.setItem(row, values[start + row] as number);
      vector.flush();
    });
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** Returns the message of a driver as one sentence, without the excerpt that marks the position of the error. */
export function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const line = text
    .replace(/\n\s*LINE \d+:[\s\S]*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
