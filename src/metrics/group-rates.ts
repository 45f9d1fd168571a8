import { cellIndex, type ClassificationStats, sumCells } from './group-stats.ts';
import type { RateName } from './metric-result.ts';

/** One rate of every group: weighted numerator over weighted denominator. */
export interface GroupRate {
  readonly name: RateName;
  readonly values: Float64Array;
  readonly numerators: Float64Array;
  readonly denominators: Float64Array;
  /** Rows in each denominator. */
  readonly denominatorCounts: Float64Array;
  /** Kish's effective rows in each denominator, (sum w)^2 / sum w^2; the rows themselves without weights. */
  readonly effectiveCounts: Float64Array;
  /** What the denominator counts, for messages. */
  readonly denominatorName: string;
}

/** The rates of binary decisions. */
export type ClassificationRateName = Exclude<RateName, 'mean_absolute_error'>;

const NO = 0;
const YES = 1;
const UNKNOWN = 2;

/** Which cells are counted above and below the line of each rate. */
const DEFINITIONS: Readonly<
  Record<ClassificationRateName, { above: readonly number[]; below: readonly number[]; denominatorName: string }>
> = {
  selection_rate: {
    above: [cellIndex(NO, YES), cellIndex(YES, YES), cellIndex(UNKNOWN, YES)],
    below: [0, 1, 2, 3, 4, 5],
    denominatorName: 'rows',
  },
  true_positive_rate: {
    above: [cellIndex(YES, YES)],
    below: [cellIndex(YES, NO), cellIndex(YES, YES)],
    denominatorName: 'rows with a positive true label',
  },
  false_positive_rate: {
    above: [cellIndex(NO, YES)],
    below: [cellIndex(NO, NO), cellIndex(NO, YES)],
    denominatorName: 'rows with a negative true label',
  },
};

/** Computes one rate for every group; NaN where a group's denominator is empty. */
export function groupRate(stats: ClassificationStats, name: ClassificationRateName): GroupRate {
  const { above, below, denominatorName } = DEFINITIONS[name];
  const numerators = sumCells(stats.weights, above);
  const denominators = sumCells(stats.weights, below);
  const squares = sumCells(stats.squaredWeights, below);
  return {
    name,
    values: numerators.map((numerator, group) => numerator / (denominators[group] as number)),
    numerators,
    denominators,
    denominatorCounts: sumCells(stats.counts, below),
    effectiveCounts: denominators.map((sum, group) => (sum * sum) / (squares[group] as number)),
    denominatorName,
  };
}

/** The rate of all groups together. */
export function overallRate({ numerators, denominators }: GroupRate): number {
  const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
  return sum(numerators) / sum(denominators);
}
