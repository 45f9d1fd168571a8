import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';
import type { Table, TableSource } from '../../table/index.ts';

/** Options of {@link Transformer.fit}. */
export interface TransformerFitOptions {
  /** One weight per row, 0 or more; equal weights if omitted. */
  readonly sampleWeight?: ArrayLike<number> | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link TransformerFitOptions}. */
export const TRANSFORMER_FIT_OPTION_NAMES: OptionNames<TransformerFitOptions> = {
  sampleWeight: true,
  onProgress: true,
  signal: true,
};

/** The output of a transformer. */
export interface TransformedRows {
  /** The input rows in the same order. Columns may be changed or dropped. */
  readonly table: Table;
  /**
   * The factor by which to multiply each row's weight, with mean 1 over the training rows; null if the transformer
   * assigns no weights.
   */
  readonly sampleWeight: Float64Array | null;
}

/** A transformer as plain data, which can be stored and restored. */
export interface TransformerJson {
  readonly kind: TransformerKind;
  /** The constructor's options, in snake_case. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The fitted state; null before `fit`. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/**
 * A step that changes data before training. A transformer is fitted on training rows only. `transform` uses only the
 * fitted state and learns nothing from the rows that it transforms.
 */
export interface Transformer {
  /** The name of the transformer in configurations. */
  readonly kind: TransformerKind;
  /**
   * Warnings about the fit (small groups, columns without effect), and then about the rows of the latest `transform`
   * (unseen groups, rows without a group), as clauses without a full stop.
   */
  readonly warnings: readonly string[];
  /** Fits the transformer on rows. The new fit replaces an earlier fit. If fitting fails, the earlier fit is kept. */
  fit(data: TableSource, options?: TransformerFitOptions): Promise<this>;
  /**
   * Applies the fitted transformer.
   * @throws {PipelineExecutionError} if the transformer has not been fitted
   */
  transform(data: TableSource): Promise<TransformedRows>;
  toJSON(): TransformerJson;
}

/** Values from the rest of the configuration, for parameters that a step does not set. */
export interface StepDefaults {
  readonly sensitive: readonly string[];
  readonly benchmarks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The target column. */
  readonly label?: string | undefined;
  readonly positiveLabel?: string | undefined;
  readonly features?: readonly string[] | undefined;
}
