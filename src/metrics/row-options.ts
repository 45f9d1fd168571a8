import type { OptionNames } from '../internal/arguments.ts';
import type { ColumnSource, NanPolicy, SensitiveSource } from '../table/index.ts';
import { METRIC_OPTION_NAMES, type MetricOptions } from './options.ts';

/** Options for the input rows of a metric. */
export interface RowOptions {
  /** The weights of rows, [n], 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label that counts as 1; every other label counts as 0. */
  readonly positiveLabel?: string | undefined;
  /**
   * The label of yTrue that counts as 1, if true labels and predictions use different labels.
   * @defaultValue `positiveLabel`
   */
  readonly yTruePositiveLabel?: string | undefined;
  /**
   * Texts to treat as missing values, instead of `MISSING_TEXTS`. If you set this option, it also applies to sensitive
   * columns.
   * @defaultValue `MISSING_TEXTS`, and only the empty text in sensitive columns
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * `macro` for outcomes with more than two classes: the metric is computed for each class against the rest, and then
   * averaged over classes.
   * @defaultValue undefined: the outcome is binary
   */
  readonly average?: 'macro' | undefined;
  /**
   * The treatment of rows without a group: `exclude` excludes them, `include` puts them in a separate group
   * `(missing)`.
   * @defaultValue 'exclude'
   */
  readonly nanPolicy?: NanPolicy | undefined;
  /**
   * The cluster of each row, [n], such as a person, a household or a school. The rows of a cluster may depend on each
   * other; intervals and p-values then count clusters instead of rows.
   * @defaultValue undefined: all rows are independent
   */
  readonly cluster?: ColumnSource | undefined;
  /**
   * The stratum of each row, [n], for a sample that was drawn separately in each stratum. Clusters are counted within
   * their stratum; without `cluster`, each row is a cluster.
   */
  readonly strata?: ColumnSource | undefined;
}

/** Lists the options of {@link RowOptions}. */
const ROW_OPTION_NAMES: OptionNames<RowOptions> = {
  sampleWeight: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  average: true,
  nanPolicy: true,
  naValues: true,
  cluster: true,
  strata: true,
};

/**
 * Lists the options of the functions for single metrics. These functions take row options and metric options in one
 * object.
 */
export const ARGUMENT_OPTION_NAMES: OptionNames<MetricOptions & RowOptions> = {
  ...METRIC_OPTION_NAMES,
  ...ROW_OPTION_NAMES,
};

/** The input rows of any metric. Each metric reads only the columns that it needs. */
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
