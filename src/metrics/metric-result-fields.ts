import type { MeasureName } from './measures/index.ts';
import type { Compat, GapAggregate, GapMethod } from './options.ts';

/** The reason why a group, or one of its rates, was excluded. */
export interface Exclusion {
  /** The number of rows of the group. */
  readonly n: number;
  readonly reason: string;
  /**
   * The weighted numerator of the rate that the reason refers to; null if the metric does not compare rates, or the sum
   * overflows.
   */
  readonly numerator: number | null;
  /** The weighted denominator of the same rate. */
  readonly denominator: number | null;
}

/** The rows of the compared groups that have a missing value in a column that the metric needs. */
export interface MissingRows {
  /** The number of these rows. Rows without a group are not included; `nDropped` includes them. */
  readonly n: number;
  /** The number of these rows in each group. */
  readonly byGroup: Readonly<Record<string, number>>;
  /** The p-value of the hypothesis that all groups have the same share of missing rows; null if no row is missing. */
  readonly pValue: number | null;
  /**
   * The smallest and largest value that the metric could have if these rows were complete; null if bounds are not
   * available.
   */
  readonly worstCase: readonly [low: number, high: number] | null;
}

/** A group's measures, by name; null if undefined. */
export type GroupRates = Readonly<PerMeasure<number>>;

/**
 * Values by measure. Names that are not a `MeasureName` are measures of one class (`precision of 'x'`) and disparities
 * (`precision_disparity`).
 */
type PerMeasure<T> = Partial<Record<MeasureName, T | null>> & Partial<Record<string, T | null>>;

/** Intervals of a group's measures, by name; null if there is none. */
export type GroupIntervals = Readonly<PerMeasure<readonly [low: number, high: number]>>;

/** All fields of a metric result. */
export interface MetricResultFields {
  /** The metric's name in snake_case. */
  readonly metric: string;
  /**
   * The value of the metric. If it is undefined, it is NaN (or infinite, for a ratio over 0 by AIF360's conventions)
   * and `undefinedReason` gives the reason.
   */
  readonly value: number;
  /** The interval around `value`, or null if it was not requested or is not available. */
  readonly ci: readonly [low: number, high: number] | null;
  readonly ciLevel: number | null;
  readonly ciMethod: string | null;
  /**
   * The effect size of the gap: the risk ratio of the extreme groups for rates, or Cohen's d for mean errors. It is
   * null if it was not requested or is undefined.
   */
  readonly effectSize: number | null;
  readonly effectSizeName: 'risk_ratio' | 'cohens_d' | null;
  /** The p-value: the probability of a gap at least this large if the groups do not differ; null if not requested. */
  readonly pValue: number | null;
  /**
   * The method of the p-value. `permutation` of group labels is exact up to sampling error. `max-t` and, for many
   * groups, `bonferroni` are approximate.
   */
  readonly pValueMethod: string | null;
  /**
   * The minimum detectable difference between the extreme groups at their sample sizes (80% power); null if unknown.
   */
  readonly minimumDetectableGap: number | null;
  /** `between_groups`, `to_overall` or `to_reference`. */
  readonly method: GapMethod;
  /** The group with which the others were compared, if `method` is `to_reference`. */
  readonly referenceGroup: string | null;
  /** The aggregation of several gaps; null if there is only one. */
  readonly agg: GapAggregate | null;
  /** The library whose conventions were followed. */
  readonly compat: Compat | null;
  /** The number of rows of each compared group. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  /** The measures of each compared group. */
  readonly perGroup: Readonly<Record<string, GroupRates>>;
  /**
   * The intervals of each group at `ciLevel` (Wilson for rates, normal for means); null if intervals were not
   * requested.
   */
  readonly perGroupCi: Readonly<Record<string, GroupIntervals>> | null;
  /** The groups, or single rates of groups, that were excluded, with the reason. */
  readonly excluded: Readonly<Record<string, Exclusion>>;
  /**
   * One of the two groups of the gap: the one with the higher value, or the first one of a signed gap (AIF360, language
   * models). null if no single pair of groups determines the value, or if it is undefined.
   */
  readonly first: string | null;
  /** The other group of the gap; also null if groups are compared with all rows. */
  readonly second: string | null;
  /** The number of rows excluded because a value that the metric needs is missing. */
  readonly nDropped: number;
  /**
   * The number of rows with missing values by group, and the range of values that the metric could have if these rows
   * were complete. It is null for a metric that is not computed from rows.
   */
  readonly missing: MissingRows | null;
  readonly undefinedReason: string | null;
  /** Warnings to consider before you quote the value. */
  readonly warnings: readonly string[];
  readonly seed: number | null;
}
