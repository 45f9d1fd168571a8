import type { ClusterErrors } from '../../stats/cluster-gap.ts';
import type { GroupStats } from '../statistics/group-stats.ts';

/** A measure of every group, with its denominators and its sampling variation. */
export interface GroupMeasure {
  readonly name: string;
  /** The value of each group, [groups]; NaN if a group has no value. */
  readonly values: Float64Array;
  /** The number of rows in the denominator of each value, [groups]. */
  readonly denominatorCounts: Float64Array;
  /** A description of the rows that the denominator counts, for use in messages. */
  readonly denominatorName: string;
  readonly sampling: Sampling;
  /** Notes about how the values were computed. */
  readonly notes?: readonly string[];
}

/** The sampling variation of a measure. */
export type Sampling = RateSampling | MeanSampling | NoSampling;

/** A measure whose sampling variation is unknown. */
interface NoSampling {
  readonly kind: 'none';
  /** The reason why a group may have no value although it has rows. */
  readonly whyMissing: string;
}

/** The sampling variation of a rate, which is a weighted numerator divided by a weighted denominator. */
export interface RateSampling {
  readonly kind: 'rates';
  readonly numerators: Float64Array;
  readonly denominators: Float64Array;
  /** Kish's effective number of rows in each denominator, (sum w)^2 / sum w^2; without weights, the number of rows. */
  readonly effectiveCounts: Float64Array;
  /** The errors of the rates if rows come in clusters; undefined if rows are independent. */
  readonly clusters?: ClusterErrors | undefined;
}

/** The sampling variation of a mean, or of a measure that behaves like a mean in large samples. */
export interface MeanSampling {
  readonly kind: 'means';
  readonly standardErrors: Float64Array;
  /** The effective number of rows, [groups]. */
  readonly sizes: Float64Array;
  /** The skewness of the averaged values. The skewness is present only if the measure is a plain mean. */
  readonly skewness?: Float64Array | undefined;
  /** The reason why the measure has no standard errors; undefined if it has them. */
  readonly whyNoErrors?: string | undefined;
  /** The largest possible difference between two groups. */
  readonly ceiling?: number | undefined;
  /** The errors of the means if rows come in clusters; they replace `standardErrors`, `sizes` and `skewness`. */
  readonly clusters?: ClusterErrors | undefined;
}

/** The definition of a measure: how it is computed from statistics. */
export interface MeasureDefinition<Stats extends GroupStats = GroupStats> {
  readonly kind: Stats['kind'];
  readonly needsTruth: boolean;
  readonly measure: (stats: Stats) => GroupMeasure;
}

/** The smallest normal number of float64. Smaller sums of squares have too few significant digits. */
const SMALLEST_NORMAL = 2 ** -1022;

/**
 * Returns Kish's effective number of rows, (sum w)^2 / sum w^2; 0 if the weight is 0, NaN if the squares overflow or
 * underflow float64.
 */
export function effectiveCount(weight: number, squaredWeight: number): number {
  if (weight === 0) return 0;
  if (!Number.isFinite(squaredWeight) || squaredWeight < SMALLEST_NORMAL) return NaN;
  // The square of the sum overflows before the sum of squares does.
  return weight * (weight / squaredWeight);
}
