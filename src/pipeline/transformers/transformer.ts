import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';
import type { Table, TableSource } from '../../table/index.ts';

/** Options of {@link Transformer.fit}. */
export interface TransformerFitOptions {
  /** One weight per row, 0 or more; rows weigh the same where it is left out. */
  readonly sampleWeight?: ArrayLike<number> | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link TransformerFitOptions}. */
export const TRANSFORMER_FIT_OPTION_NAMES: OptionNames<TransformerFitOptions> = {
  sampleWeight: true,
  onProgress: true,
  signal: true,
};

/** What a transformer makes of rows. */
export interface TransformedRows {
  /** The same rows in the same order; columns may be changed or gone. */
  readonly table: Table;
  /** A factor for each row's weight, mean 1 over the rows fitted; null where the transformer does not weigh. */
  readonly sampleWeight: Float64Array | null;
}

/** A transformer as plain data, to be stored and read back. */
export interface TransformerJson {
  readonly kind: TransformerKind;
  /** The constructor's options, in snake_case. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What was learned; null before `fit`. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/**
 * Something that changes data before training, and learns how from training
 * rows alone: `transform` on other rows uses only what `fit` has seen.
 */
export interface Transformer {
  /** Its name in configurations. */
  readonly kind: TransformerKind;
  /**
   * What a reader should know of the fit (small groups, columns without
   * effect), and then of the rows of the latest `transform` (unseen groups, rows
   * without one): clauses without a full stop.
   */
  readonly warnings: readonly string[];
  /** Learns from rows, and forgets what was learned before. A failed fit leaves an earlier one as it was. */
  fit(data: TableSource, options?: TransformerFitOptions): Promise<this>;
  /**
   * Applies what was learned.
   * @throws {PipelineExecutionError} before `fit`
   */
  transform(data: TableSource): Promise<TransformedRows>;
  toJSON(): TransformerJson;
}

/** What the configuration around a step says, for parameters that the step leaves out. */
export interface StepDefaults {
  readonly sensitive: readonly string[];
  readonly benchmarks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The column to be predicted. */
  readonly label?: string | undefined;
  readonly positiveLabel?: string | undefined;
  readonly features?: readonly string[] | undefined;
}
