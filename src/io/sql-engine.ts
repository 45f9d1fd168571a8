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

/**
 * A SQL database on which this package runs its queries.
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
  /** The name of the engine in error messages. */
  readonly name: string;
  /** Runs `work` with a connection. Several calls may run at the same time. */
  run<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
}

/** Returns a text as a SQL string literal. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns a name as a SQL identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The columns of a source to reduce. */
export interface SourceRequest {
  /** Attributes to analyse separately. An attribute is one column, or several columns to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly sampleWeight?: string | undefined;
  readonly nanPolicy: NanPolicy;
  /** Texts that count as missing, instead of the default texts. They then also count as missing in attributes. */
  readonly naValues?: readonly string[] | undefined;
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
