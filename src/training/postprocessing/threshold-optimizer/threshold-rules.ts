import type { ThresholdConstraintName, ThresholdObjectiveName } from './constraints.ts';
import type { ThresholdInterpolation } from './threshold-rule.ts';

/** Sums of rounded terms, or differences of grid values, that differ by less are the same: neither is better. */
export const ROUNDING = 1e-12;

/**
 * gridSize + 1 numbers from 0 to 1, evenly spaced. Multiples of the rounded step, as numpy's linspace has them, so that
 * a rule whose rate lies on a threshold's own has the same two thresholds as there.
 */
export function unitGrid(gridSize: number): Float64Array {
  const step = 1 / gridSize;
  return Float64Array.from({ length: gridSize + 1 }, (_, place) => (place === gridSize ? 1 : place * step));
}

/** The first place of the largest value, a rounding not counted: so the order in which groups were added decides nothing. */
export function firstOfLargest(values: Float64Array): number {
  const largest = values.reduce((a, b) => Math.max(a, b));
  return values.findIndex((value) => value >= largest - ROUNDING);
}

/** What is asked of the rules. */
export interface ThresholdSettings {
  readonly constraint: ThresholdConstraintName;
  readonly objective: ThresholdObjectiveName;
  /** Points, less one, of the grid of rates that is searched. */
  readonly gridSize: number;
  /** Whether low scores may be selected instead of high ones. */
  readonly flip: boolean;
  /** How far apart two groups' constrained rates may be, in [0, 1]. */
  readonly tolerance: number;
}

/** The rule of one group, and what it comes to on the rows it was chosen on, in expectation. */
export interface GroupThresholds {
  readonly group: string;
  /** Rows of a weight above 0. */
  readonly n: number;
  /** Their weight; the number of rows where none was given. */
  readonly weight: number;
  readonly interpolation: ThresholdInterpolation;
  readonly selectionRate: number;
  /** null for a group without rows labelled 1. */
  readonly truePositiveRate: number | null;
  /** null for a group without rows labelled 0. */
  readonly falsePositiveRate: number | null;
  readonly accuracy: number;
}

/** The rule that is best for all rows together, without regard to groups. */
export interface PooledThreshold {
  readonly interpolation: ThresholdInterpolation;
  /** The objective over all rows. */
  readonly objectiveValue: number;
}

/** Rules per group with what produced them. */
export interface ThresholdRules extends ThresholdSettings {
  /** Rows of a weight above 0. */
  readonly n: number;
  /** Rows of weight 0, which were left out. */
  readonly nZeroWeight: number;
  /** In the order of the labels. */
  readonly groups: readonly GroupThresholds[];
  /**
   * For equalized odds the objective over all rows; for other constraints the
   * mean of the groups' own values, by weight. Both are the same for accuracy
   * and selection rate.
   */
  readonly objectiveValue: number;
  /** The largest difference between two groups' constrained rates. */
  readonly gap: number;
  readonly pooled: PooledThreshold;
}
