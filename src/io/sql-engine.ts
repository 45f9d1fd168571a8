/** How the rows of a query are wanted. */
export interface RowsOptions {
  /**
   * Add fractions up in the same order on every run, so that the last digits
   * repeat too; slower, where an engine would use several threads.
   * @defaultValue false
   */
  readonly ordered?: boolean;
}

/** A connection that runs SQL, in DuckDB's dialect. */
export interface SqlSession {
  /** The rows of one statement's result: numbers, texts and null; whole numbers of 64 bits and more as bigint. */
  rows(sql: string, options?: RowsOptions): Promise<unknown[][]>;
}

/**
 * A database that rows can be counted in.
 * @example
 * ```ts
 * import { openDuckDb } from 'evenhand/io';
 *
 * const engine = openDuckDb();
 * const rows = await engine.run((session) => session.rows('SELECT 6 * 7'));
 * console.log(rows);
 * // [ [ 42 ] ]
 * await engine.close();
 * ```
 */
export interface SqlEngine {
  /** What errors call it. */
  readonly name: string;
  /** Lends a connection to `work`; several may be lent at once. */
  run<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
}
