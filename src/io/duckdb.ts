import { statSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api';

import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { importOptional } from '../internal/packages.ts';
import { currentDuckDbLimits, limitSettings, withinLimits } from './duckdb-limits.ts';
import {
  type EngineResult,
  type EngineValue,
  quoteIdentifier,
  type RowsOptions,
  type SqlEngine,
  type SqlSession,
  type StatementOptions,
} from './sql-engine.ts';

/** An open DuckDB database. */
export interface DuckDbEngine extends SqlEngine {
  readonly dialect: 'duckdb';
  /** Runs `work` with a connection. Several calls may run at the same time. */
  run<T>(work: (session: DuckDbSession) => Promise<T>, options?: StatementOptions): Promise<T>;
}

/** Options of {@link openDuckDb}. */
export interface OpenDuckDbOptions {
  /**
   * Whether a database file is opened read-only. If false, a missing file is created, and the file is locked for other
   * processes. The option has no effect on a database in memory.
   * @defaultValue true
   */
  readonly readOnly?: boolean;
}

const OPEN_DUCK_DB_OPTION_NAMES: OptionNames<OpenDuckDbOptions> = { readOnly: true };

const MEMORY = ':memory:';

const require = createRequire(import.meta.url);

/**
 * Opens a DuckDB database, or an empty database in memory. DuckDB itself is loaded with the first query.
 * @param path the database file
 * @throws {DataValidationError} if the file is missing; with the first query, also if the file is not a database
 * @throws {DependencyError} with the first query, if DuckDB's native binary is not installed
 * @example
 * ```ts
 * import { openDuckDb } from 'evenhand/io';
 *
 * const engine = openDuckDb();
 * await engine.run((session) => session.rows("CREATE TABLE wages AS SELECT 9 AS wage, 'm' AS sex"));
 * console.log(await engine.run((session) => session.rows('SELECT sex, wage FROM wages')));
 * // [ [ 'm', 9 ] ]
 * await engine.close();
 * ```
 */
export function openDuckDb(path: string = MEMORY, options: OpenDuckDbOptions = {}): DuckDbEngine {
  assertKnownOptions('openDuckDb', options, OPEN_DUCK_DB_OPTION_NAMES);
  const { readOnly = true } = options;
  if (path !== MEMORY && readOnly) assertFile(path);
  return new DuckDbDatabase(path, readOnly && path !== MEMORY);
}

/** The in-memory database that {@link withDuckDb} shares between calls without limits. */
let shared: DuckDbEngine | undefined;

/**
 * Runs `work` on a connection to an in-memory DuckDB. Temporary tables are dropped when the connection is closed. Calls
 * without limits share one database, because opening a database takes about 20 ms and opening a connection less than 1
 * ms.
 * @throws {DependencyError} if DuckDB's native binary is not installed
 */
export async function withDuckDb<T>(work: (session: DuckDbSession) => Promise<T>): Promise<T> {
  const isShared = currentDuckDbLimits() === undefined;
  const engine = isShared ? (shared ??= openDuckDb()) : openDuckDb();
  let isHealthy = false;
  try {
    const result = await engine.run(work);
    isHealthy = true;
    return result;
  } finally {
    // A fatal error makes a database unusable, so after any error the next call opens a new database.
    if (!isHealthy && shared === engine) shared = undefined;
    if (!isShared) await engine.close();
    // Not awaited, because closing waits for the other calls.
    else if (!isHealthy) void engine.close();
  }
}

class DuckDbDatabase implements DuckDbEngine {
  readonly name: string;
  readonly dialect = 'duckdb';
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #running = new Set<Promise<unknown>>();
  readonly #takeTurn = turns();
  #opened: Promise<{ readonly module: DuckDbModule; readonly instance: DuckDBInstance }> | undefined;
  #isClosed = false;

  constructor(path: string, readOnly: boolean) {
    this.name = path === MEMORY ? 'DuckDB' : `DuckDB in '${path}'`;
    this.#path = path;
    this.#readOnly = readOnly;
  }

  query(sql: string, options?: StatementOptions): Promise<EngineResult> {
    return this.run((session) => session.result(sql), options);
  }

  async run<T>(work: (session: DuckDbSession) => Promise<T>, options: StatementOptions = {}): Promise<T> {
    if (this.#isClosed) {
      throw new DataValidationError(`The database '${this.#path}' is closed.`, {
        code: 'invalid-state',
        context: { path: this.#path },
        suggestion: 'Close the database only after the last query.',
      });
    }
    const done = this.#lend(work, options.signal ?? currentDuckDbLimits()?.signal);
    this.#running.add(done);
    try {
      return await done;
    } finally {
      this.#running.delete(done);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    // A database that could not be opened does not need to be closed.
    (await this.#opened?.catch(() => undefined))?.instance.closeSync();
  }

  async #lend<T>(work: (session: DuckDbSession) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { module, instance } = await (this.#opened ??= this.#open());
    signal?.throwIfAborted();
    const connection = await instance.connect();
    const interrupt = (): void => {
      connection.interrupt();
    };
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      return await work(sessionOf(module, connection, this.#takeTurn));
    } catch (error) {
      // The message of an interrupted query varies, so the reason of the abort is thrown.
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', interrupt);
      connection.closeSync();
    }
  }

  async #open(): Promise<{ readonly module: DuckDbModule; readonly instance: DuckDBInstance }> {
    const module = await importOptional(
      '@duckdb/node-api',
      'to read files and run SQL',
      // An import analyses the exports of each of the CommonJS files first, and takes twice as long.
      () => Promise.resolve(require('@duckdb/node-api') as DuckDbModule),
    );
    try {
      const options = {
        // Nothing is downloaded without the user's knowledge.
        autoinstall_known_extensions: 'false',
        ...(this.#readOnly ? { access_mode: 'READ_ONLY' } : {}),
        ...limitSettings(currentDuckDbLimits()),
      };
      return { module, instance: await module.DuckDBInstance.create(this.#path, options) };
    } catch (cause) {
      if (FairnessToolkitError.isInstance(cause)) throw cause;
      throw cannotOpen(this.#path, oneLine(cause), cause);
    }
  }
}

function assertFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw cannotOpen(path, 'there is no such file.');
  if (!found.isFile()) throw cannotOpen(path, 'it is not a file.');
}

function cannotOpen(path: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot open the database '${path}': ${reason}`, {
    code: 'unreadable-file',
    context: { path },
    suggestion: 'Give the path of a DuckDB database file. CSV and Parquet files can be read without a database.',
    cause,
  });
}

/** The exports of the DuckDB package, which is loaded lazily. */
type DuckDbModule = typeof import('@duckdb/node-api');

/** A connection to DuckDB. All access to DuckDB in this package uses this interface. */
export interface DuckDbSession extends SqlSession {
  /** Returns the names of the columns and the rows of one statement's result. */
  result(sql: string): Promise<EngineResult>;
  /** Runs a query completely, and returns its number of rows and its chunks. */
  complete(sql: string): Promise<{ readonly rowCount: number; readonly chunks: AsyncIterable<DuckDBDataChunk> }>;
  /**
   * Yields the chunks of a query's result while the query runs, in the order of the rows, with little memory. If a late
   * row is invalid, the chunks end without an error, so count the rows.
   */
  stream(sql: string): AsyncIterable<DuckDBDataChunk>;
  /** Creates a temporary table of columns of equal length: Int32Array as INTEGER, Float64Array as DOUBLE. */
  createTable(name: string, columns: Readonly<Record<string, Int32Array | Float64Array>>): Promise<void>;
}

/** Returns a queue that starts each task after the previous task has ended. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Wraps a connection in a {@link DuckDbSession}. */
function sessionOf(
  module: DuckDbModule,
  connection: DuckDBConnection,
  takeTurn: ReturnType<typeof turns>,
): DuckDbSession {
  const rows = async (sql: string): Promise<unknown[][]> =>
    limited(async () => (await connection.runAndReadAll(sql)).getRows());
  return {
    async result(sql) {
      const read = await limited(() => connection.runAndReadAll(sql));
      return { columns: read.columnNames(), rows: read.getRows() as EngineValue[][] };
    },
    rows: (sql, { ordered = false }: RowsOptions = {}) =>
      // The number of threads is a setting of the database, so ordered queries wait for each other.
      ordered ? takeTurn(() => onOneThread(rows, () => rows(sql))) : rows(sql),
    async complete(sql) {
      const result = await limited(() => connection.run(sql));
      return { rowCount: result.rowCount, chunks: chunksOf(() => Promise.resolve(result)) };
    },
    stream: (sql) => chunksOf(() => connection.stream(sql)),
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

/**
 * Yields the chunks of a result.
 * @yields each chunk with rows
 */
async function* chunksOf(
  run: () => Promise<{ fetchChunk(): Promise<DuckDBDataChunk | null> }>,
): AsyncGenerator<DuckDBDataChunk> {
  const result = await limited(run);
  for (;;) {
    const chunk = await limited(() => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk;
  }
}

/** Runs work. An out-of-memory error is converted to an error with a clear message. */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw withinLimits(cause);
  }
}

/**
 * Runs work on one thread. Sums of fractions depend on the order of their terms, and this order varies with several
 * threads.
 */
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

/**
 * Returns the error message of the database driver as one sentence, without the excerpt that shows the position of the
 * error.
 */
export function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const line = text
    .replace(/\n\s*LINE \d+:[\s\S]*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
