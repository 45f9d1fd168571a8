import type { NanPolicy } from '../table/index.ts';

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

/** A text as a SQL string literal. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as a SQL identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** What rows of a source to reduce, by its columns. */
interface SourceRequest {
  /** Attributes to analyse apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly sampleWeight?: string | undefined;
  readonly nanPolicy: NanPolicy;
  /** Texts that are missing values, instead of the default ones; they then hold for attributes too. */
  readonly naValues?: readonly string[] | undefined;
}

/** Decisions, and how a source's values become them. */
export interface DecisionRequest extends SourceRequest {
  readonly yPred: string;
  readonly yTrue?: string | undefined;
  readonly positiveLabel?: string | undefined;
  /** The label of `yTrue` that counts as 1, where it is another. */
  readonly yTruePositiveLabel?: string | undefined;
  /** Whether `positiveLabel` is one class of several, which may be missing from truth or decisions. */
  readonly isOneOfMany?: boolean | undefined;
  /** Where set, `yPred` holds scores and a decision is score >= threshold. */
  readonly scoreThreshold?: number | undefined;
}

/** Predicted numbers. */
export interface NumberRequest extends SourceRequest {
  readonly yPred: string;
  /** Without it only the predictions have moments. */
  readonly yTrue?: string | undefined;
}

/** Scores and the labels that they should foretell. */
export interface ScoreRequest extends SourceRequest {
  readonly yScore: string;
  readonly yTrue: string;
  readonly positiveLabel?: string | undefined;
  /** The label of `yTrue` that counts as 1, where it is another. */
  readonly yTruePositiveLabel?: string | undefined;
}
