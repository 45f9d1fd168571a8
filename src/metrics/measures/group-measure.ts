import type { GroupStats } from '../statistics/group-stats.ts';

/** A number of every group, with what it rests on and how far chance may move it. */
export interface GroupMeasure {
  readonly name: string;
  /** [groups]; NaN where a group has none. */
  readonly values: Float64Array;
  /** Rows that each value rests on, [groups]. */
  readonly denominatorCounts: Float64Array;
  /** What the denominator counts, for messages. */
  readonly denominatorName: string;
  readonly sampling: Sampling;
  /** What a reader should know of how the values were got. */
  readonly notes?: readonly string[];
}

/** How a measure varies from sample to sample. */
export type Sampling = RateSampling | MeanSampling | NoSampling;

/** A measure whose chance variation is not known. */
interface NoSampling {
  readonly kind: 'none';
  /** Why a group that has rows may have no value. */
  readonly whyMissing: string;
}

/** Weighted numerator over weighted denominator of rows that count or do not. */
export interface RateSampling {
  readonly kind: 'rates';
  readonly numerators: Float64Array;
  readonly denominators: Float64Array;
  /** Kish's effective rows in each denominator, (sum w)^2 / sum w^2; the rows themselves without weights. */
  readonly effectiveCounts: Float64Array;
}

/** A mean, or something that behaves like one in samples that are not small. */
export interface MeanSampling {
  readonly kind: 'means';
  readonly standardErrors: Float64Array;
  /** Effective rows. */
  readonly sizes: Float64Array;
  /** Of the values averaged; given for plain means only. */
  readonly skewness?: Float64Array | undefined;
  /** Why there are no standard errors, where the measure has none. */
  readonly whyNoErrors?: string | undefined;
  /** The largest possible difference. */
  readonly ceiling?: number | undefined;
}

/** How a measure is computed from statistics. */
export interface MeasureDefinition<Stats extends GroupStats = GroupStats> {
  readonly kind: Stats['kind'];
  readonly needsTruth: boolean;
  readonly measure: (stats: Stats) => GroupMeasure;
}

/** Smaller numbers of float64 have fewer digits, so that a sum of squares below it is not to be trusted. */
const SMALLEST_NORMAL = 2 ** -1022;

/** Kish's effective number of rows, (sum w)^2 / sum w^2; 0 of none, NaN where the squares left float64. */
export function effectiveCount(weight: number, squaredWeight: number): number {
  if (weight === 0) return 0;
  if (!Number.isFinite(squaredWeight) || squaredWeight < SMALLEST_NORMAL) return NaN;
  // The square of a sum leaves float64 before the sum of squares does.
  return weight * (weight / squaredWeight);
}
