import type { MeasureName } from './measures/index.ts';
import type { Compat, GapAggregate, GapMethod } from './options.ts';

/** Why a group, or one rate of it, took no part. */
export interface Exclusion {
  /** Rows of the group. */
  readonly n: number;
  readonly reason: string;
  /** Weighted rows above the line of the rate that the reason speaks of; null where the metric compares no rates, or they cannot be added up. */
  readonly numerator: number | null;
  /** Weighted rows below that line. */
  readonly denominator: number | null;
}

/** Rows of the compared attribute's groups that lack a value which the metric needs. */
export interface MissingRows {
  /** How many there are. Rows without a group are not among them; `nDropped` counts these too. */
  readonly n: number;
  /** How many of each group. */
  readonly byGroup: Readonly<Record<string, number>>;
  /** The probability of shares of missing rows that differ as much, if all groups lack the same share; null where none is missing. */
  readonly pValue: number | null;
  /** The smallest and the largest value that the metric could have with these rows; null where no bounds are known. */
  readonly worstCase: readonly [low: number, high: number] | null;
}

/** A group's measures, by name; null for one that it does not have. */
export type GroupRates = Readonly<PerMeasure<number>>;

/** Values by measure; other names are measures of one class (`precision of 'x'`) and disparities (`precision_disparity`). */
type PerMeasure<T> = Partial<Record<MeasureName, T | null>> & Partial<Record<string, T | null>>;

/** Intervals of a group's measures, by name; null for one that has none. */
export type GroupIntervals = Readonly<PerMeasure<readonly [low: number, high: number]>>;

/** Everything a metric result carries. */
export interface MetricResultFields {
  /** The metric's name in snake_case. */
  readonly metric: string;
  /** The metric; NaN where it is undefined (or infinite, for a ratio over 0 by AIF360's conventions), and then `undefinedReason` says why. */
  readonly value: number;
  /** The interval around `value`, or null where none was asked for or can be given. */
  readonly ci: readonly [low: number, high: number] | null;
  readonly ciLevel: number | null;
  readonly ciMethod: string | null;
  /** Risk ratio of the extreme groups for rates, Cohen's d for mean errors; null where not asked for or undefined. */
  readonly effectSize: number | null;
  readonly effectSizeName: 'risk_ratio' | 'cohens_d' | null;
  /** The probability of a gap at least as large where all groups are alike; null where not asked for. */
  readonly pValue: number | null;
  /** `permutation` of group labels on the counts (exact but for chance), `max-t` or, of many groups, `bonferroni` (approximate). */
  readonly pValueMethod: string | null;
  /** The smallest gap of the extreme groups that data of this size show with probability 0.8; null where unknown. */
  readonly minimumDetectableGap: number | null;
  /** `between_groups`, `to_overall` or `to_reference`. */
  readonly method: GapMethod;
  /** The group that others were compared with, under `to_reference`. */
  readonly referenceGroup: string | null;
  /** How several gaps became one; null where there is one. */
  readonly agg: GapAggregate | null;
  /** The library whose conventions were followed. */
  readonly compat: Compat | null;
  /** Rows per group that took part. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  /** Measures per group that took part. */
  readonly perGroup: Readonly<Record<string, GroupRates>>;
  /** Each group's own intervals at `ciLevel` (Wilson for rates, normal for means); null without intervals. */
  readonly perGroupCi: Readonly<Record<string, GroupIntervals>> | null;
  /** Groups, or single rates of groups, that took no part, with the reason. */
  readonly excluded: Readonly<Record<string, Exclusion>>;
  /**
   * One of the two groups of the gap: the one with the higher value, or the one that comes first in a gap with a sign
   * (AIF360, language models). null where no two groups stand for the value, or it is undefined.
   */
  readonly first: string | null;
  /** The other group of the gap; null too where groups are compared with all rows. */
  readonly second: string | null;
  /** Rows left out because a value that the metric needs is missing. */
  readonly nDropped: number;
  /** The same rows by group, and what they could change; null for a metric that is not computed from rows. */
  readonly missing: MissingRows | null;
  readonly undefinedReason: string | null;
  /** What a careful reader should know before quoting the value. */
  readonly warnings: readonly string[];
  readonly seed: number | null;
}
