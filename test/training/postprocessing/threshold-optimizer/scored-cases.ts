import fc from 'fast-check';

import type { ThresholdConstraintName } from '../../../../src/training/postprocessing/threshold-optimizer/constraints.ts';

/** Rows to choose thresholds on. */
export interface Rows {
  readonly scores: readonly number[];
  readonly y: readonly number[];
  readonly sensitive: readonly string[];
  readonly weights: readonly number[];
}

/** Selects the rows of a mean. */
type Selection = (row: number) => boolean;

const GROUPS = ['a', 'b', 'c'];

/** One row of each label per group, before the other rows, so that every rate is defined. */
const BOTH_LABELS = GROUPS.flatMap((group) => [
  { group, y: 0, score: 0, weight: 1 },
  { group, y: 1, score: 1, weight: 1 },
]);

/** Generates random rows of three groups with ties in the scores. */
export const anyRows: fc.Arbitrary<Rows> = fc
  .array(
    fc.record({
      group: fc.constantFrom(...GROUPS),
      y: fc.integer({ min: 0, max: 1 }),
      score: fc.integer({ min: -4, max: 4 }),
      weight: fc.integer({ min: 1, max: 12 }).map((quarters) => quarters / 4),
    }),
    { maxLength: 40 },
  )
  .map((rows) => columnsOf([...BOTH_LABELS, ...rows]));

function columnsOf(rows: readonly { group: string; y: number; score: number; weight: number }[]): Rows {
  return {
    scores: rows.map(({ score }) => score),
    y: rows.map(({ y }) => y),
    sensitive: rows.map(({ group }) => group),
    weights: rows.map(({ weight }) => weight),
  };
}

/** The rows that each constraint counts, and whether it counts decisions of 1. */
const COUNTED: Record<ThresholdConstraintName, readonly (readonly [label: 0 | 1 | null, decision: 0 | 1])[]> = {
  demographic_parity: [[null, 1]],
  selection_rate_parity: [[null, 1]],
  true_positive_rate_parity: [[1, 1]],
  false_positive_rate_parity: [[0, 1]],
  true_negative_rate_parity: [[0, 0]],
  false_negative_rate_parity: [[1, 0]],
  equalized_odds: [
    [1, 1],
    [0, 1],
  ],
};

/** Computes the largest gap between two groups' constrained rates, from probabilities and weights only. */
export function largestGap(rows: Rows, probabilities: ArrayLike<number>, constraint: ThresholdConstraintName): number {
  const gaps = COUNTED[constraint].map(([label, decision]) => {
    const rates = [...new Set(rows.sensitive)].map((group) => {
      const rate = meanOf(
        rows,
        probabilities,
        (row) => rows.sensitive[row] === group && (label === null || rows.y[row] === label),
      );
      return decision === 1 ? rate : 1 - rate;
    });
    return Math.max(...rates) - Math.min(...rates);
  });
  return Math.max(...gaps);
}

/** Computes the weighted mean of probabilities over some rows. */
export function meanOf({ weights }: Rows, probabilities: ArrayLike<number>, isMeant: Selection): number {
  let [sum, total] = [0, 0];
  for (const [row, weight] of weights.entries()) {
    if (!isMeant(row)) continue;
    sum += weight * (probabilities[row] ?? NaN);
    total += weight;
  }
  return sum / total;
}
