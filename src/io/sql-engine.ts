import { DataValidationError } from '../exceptions/index.ts';
import type { SqlDialect } from '../schemas/counting.ts';
import type { NanPolicy, PositiveLabelOptions } from '../table/index.ts';

/** Options of a query. */
export interface RowsOptions {
  /**
   * Whether to add fractions in the same order on every run, so that all digits are reproducible. This is slower if the
   * engine would otherwise use several threads.
   * @defaultValue false
   */
  readonly ordered?: boolean;
}

/** A connection that runs SQL in DuckDB's dialect. */
export interface SqlSession {
  /**
   * Returns the rows of one statement's result. Values are numbers, texts and null; integers of 64 bits and more are
   * bigint.
   */
  rows(sql: string, options?: RowsOptions): Promise<unknown[][]>;
}

/** A value in the result of a statement. */
export type EngineValue = string | number | bigint | boolean | null;

/** The result of a statement. */
export interface EngineResult {
  readonly columns: readonly string[];
  /**
   * Whether each column is a number in the engine. Training needs it to tell numbers from labels.
   * @defaultValue a column is a number if its first value is a number or a bigint
   */
  readonly areNumbers?: readonly boolean[] | undefined;
  /** The values of each row, in the order of the columns. */
  readonly rows: readonly (readonly EngineValue[])[];
}

/** Options of a statement. */
export interface StatementOptions {
  /** Stops the statement, also in the engine. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A SQL database that counts rows. `createSqlEngine` and `openDuckDb` return engines. For another database, write an
 * object with these properties: `dialect` determines the SQL that `query` receives.
 * @example
 * ```ts
 * import { openDuckDb } from 'evenhand/io';
 *
 * const engine = openDuckDb();
 * const { columns, rows } = await engine.query('SELECT 6 * 7 AS answer');
 * console.log(columns, rows);
 * // [ 'answer' ] [ [ 42 ] ]
 * await engine.close();
 * ```
 */
export interface SqlEngine {
  /** The name of the engine in error messages and reports. It contains no password. */
  readonly name: string;
  readonly dialect: SqlDialect;
  /** Runs one statement that reads, and returns its result. Several statements may run at the same time. */
  query(sql: string, options?: StatementOptions): Promise<EngineResult>;
  /**
   * Runs one statement that reads, and yields the rows of its result in parts, so that a large result needs little
   * memory. Only training on rows in the engine needs it.
   * @defaultValue none: the engine cannot be trained on
   */
  stream?(sql: string, options?: StatementOptions): AsyncIterable<EngineResult['rows']>;
  /** Stops the running statements, or waits for them. Closing the engine again has no effect. */
  close(): Promise<void>;
}

/** Returns a text as a SQL string literal. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns a name as a SQL identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Splits a table's name at its points, as in `schema.table`. A part in double quotes may contain points. */
export function tableParts(table: string): string[] {
  const parts = [...table.matchAll(/(?:^|\.)(?:"((?:[^"]|"")+)"|([^".]+))/gy)];
  const length = parts.reduce((sum, [part]) => sum + part.length, 0);
  if (length === table.length) return parts.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
  throw new DataValidationError(`'${table}' is not the name of a table.`, {
    code: 'invalid-value',
    context: { parameter: 'table', value: table },
    suggestion: 'Write table, schema.table or catalog.schema.table. Put a part that contains a point in double quotes.',
  });
}

/** The columns of a source to reduce. */
export interface SourceRequest {
  /** Attributes to analyse separately. An attribute is one column, or several columns to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly sampleWeight?: string | undefined;
  /** The column of clusters of dependent rows. */
  readonly cluster?: string | undefined;
  /** The column of strata, within which clusters are independent. */
  readonly strata?: string | undefined;
  readonly nanPolicy: NanPolicy;
  /** Texts that count as missing, instead of the default texts. They then also count as missing in attributes. */
  readonly naValues?: readonly string[] | undefined;
  /** The number below which counts are left out, already in the engine. */
  readonly minCell?: number | undefined;
}

/** The columns of decisions, and options for reading their values. */
export interface DecisionRequest extends NumberRequest, PositiveLabelOptions {
  /**
   * Whether `positiveLabel` is one of several classes. If true, the positive label does not need to occur among the
   * true labels or decisions.
   */
  readonly isOneOfMany?: boolean | undefined;
  /** The decision threshold. If it is set, `yPred` contains scores, and the decision is score >= threshold. */
  readonly scoreThreshold?: number | undefined;
}

/** The columns of predicted numbers. */
export interface NumberRequest extends SourceRequest {
  readonly yPred: string;
  /** The column of true values. If it is omitted, only the predictions are reduced. */
  readonly yTrue?: string | undefined;
}

/** The columns of scores and true labels. */
export interface ScoreRequest extends SourceRequest, PositiveLabelOptions {
  readonly yScore: string;
  readonly yTrue: string;
}
