import type { OptionNames } from '../internal/arguments.ts';
import type { ColumnSource, NanPolicy, SensitiveSource } from '../table/index.ts';
import { METRIC_OPTION_NAMES, type MetricOptions } from './options.ts';

/** Options on the rows that a metric is computed from. */
export interface RowOptions {
  /** Weights of rows, [n], 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label that counts as 1; every other label is 0. */
  readonly positiveLabel?: string | undefined;
  /**
   * The label of yTrue that counts as 1, where truth and predictions are labelled differently.
   * @defaultValue `positiveLabel`
   */
  readonly yTruePositiveLabel?: string | undefined;
  /**
   * Texts that are missing values, instead of `MISSING_TEXTS`; those given hold for sensitive columns too.
   * @defaultValue `MISSING_TEXTS`, and in sensitive columns the empty text alone
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * For outcomes of more than two classes: each class against the rest, and the mean over classes.
   * @defaultValue none: the outcome is binary
   */
  readonly average?: 'macro' | undefined;
  /**
   * Rows without a group: left out, or a group `(missing)` of their own.
   * @defaultValue 'exclude'
   */
  readonly nanPolicy?: NanPolicy | undefined;
}

/** Lists the options of {@link RowOptions}. */
export const ROW_OPTION_NAMES: OptionNames<RowOptions> = {
  sampleWeight: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  average: true,
  nanPolicy: true,
  naValues: true,
};

/** Lists the options of a metric's own function, which takes those of rows and of the metric in one object. */
export const ARGUMENT_OPTION_NAMES: OptionNames<MetricOptions & RowOptions> = {
  ...METRIC_OPTION_NAMES,
  ...ROW_OPTION_NAMES,
};

/** Rows of any metric; each reads the columns that it needs. */
export interface MetricRows extends RowOptions {
  readonly yTrue?: ColumnSource | undefined;
  readonly yPred?: ColumnSource | undefined;
  readonly yScore?: ColumnSource | undefined;
  readonly sensitive: SensitiveSource;
}

/** Lists the columns and options of {@link MetricRows}. */
export const METRIC_ROWS_NAMES: OptionNames<MetricRows> = {
  ...ROW_OPTION_NAMES,
  yTrue: true,
  yPred: true,
  yScore: true,
  sensitive: true,
};
