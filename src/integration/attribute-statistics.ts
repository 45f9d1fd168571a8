import type { ControlCell } from '../metrics/frame/index.ts';
import { readTruth } from '../metrics/reduce/reduce-scores.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import type { ColumnSource } from '../table/index.ts';

/** Scores from here are positive decisions, unless said otherwise. */
export const SCORE_THRESHOLD = 0.5;

/** Statistics of one attribute. */
export interface AttributeStatistics {
  readonly stats: GroupStats;
  /** With a control feature: the same rows crossed with its levels, but for those without a level. */
  readonly crossed: { readonly stats: GroupStats; readonly cells: readonly ControlCell[] } | undefined;
}

/** The kind of statistics to make, and whether true labels are needed for it. */
export interface NeededStatistics {
  readonly kind: GroupStats['kind'];
  readonly needsTruth: boolean;
}

/** Finite scores as decisions; a missing score stays missing. */
export function decideScores(scores: Float64Array, threshold: number = SCORE_THRESHOLD): Float64Array {
  return scores.map((value) => (Number.isNaN(value) ? NaN : Number(value >= threshold)));
}

/**
 * True labels as 0 and 1 beside decisions made of scores, which are no labels: NaN where one is missing.
 * @throws {DataValidationError} where a label is neither, or none is the positive one
 */
export function binaryTruth(source: ColumnSource, labels: Parameters<typeof readTruth>[1]): Float64Array {
  return Float64Array.from(readTruth(source, labels), (value) => (value < 0 ? NaN : value));
}
