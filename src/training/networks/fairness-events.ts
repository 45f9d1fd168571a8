import type { Tensor2D } from '@tensorflow/tfjs';

import { sum } from '../../metrics/statistics/group-stats.ts';
import type { BatchRows, NetworkRows, Tf } from '../../tensor/index.ts';

/** The names of the constraints of a Lagrangian trainer. */
export const FAIRNESS_CONSTRAINTS = ['demographic_parity', 'equal_opportunity', 'equalized_odds'] as const;

/** One of {@link FAIRNESS_CONSTRAINTS}. */
export type FairnessConstraint = (typeof FAIRNESS_CONSTRAINTS)[number];

/** The rows on which groups are compared: all rows, or only the rows with a certain true label. */
export type FairnessEvent = 'all' | 'positives' | 'negatives';

/** For each constraint, the events in which it compares the rates of groups. */
export const EVENTS: Readonly<Record<FairnessConstraint, readonly FairnessEvent[]>> = {
  demographic_parity: ['all'],
  equal_opportunity: ['positives'],
  equalized_odds: ['positives', 'negatives'],
};

/**
 * A group counts as absent from a batch if its share of the batch's weight is below this value. Divisors are at least
 * this value.
 */
export const MIN_SHARE = 1e-12;

/** Returns the membership matrix of a batch, with 0 for rows that do not belong to the event. */
export function membershipIn(tf: Tf, event: FairnessEvent, { membership, labels }: BatchRows): Tensor2D {
  if (event === 'all') return membership;
  const positive = labels.transpose();
  return membership.mul(event === 'positives' ? positive : tf.sub(1, positive));
}

/** Returns whether rows with this label belong to an event. */
export function isIn(event: FairnessEvent, y: number): boolean {
  return event === 'all' || (event === 'positives') === (y === 1);
}

/**
 * Returns the largest difference between the weighted mean values of two groups, over the rows of an event. Only groups
 * with a positive entry in `counts` and a positive weight are compared. Returns 0 if there are fewer than two such
 * groups.
 */
export function gapIn(
  event: FairnessEvent,
  rows: NetworkRows,
  valueOf: (row: number) => number,
  counts: ArrayLike<number>,
): number {
  const weights = groupSums(event, rows, () => 1);
  const sums = groupSums(event, rows, valueOf);
  const rates = [...sums].flatMap((total, group) => {
    const weight = weights[group] as number;
    return (counts[group] as number) > 0 && weight > 0 ? [total / weight] : [];
  });
  return rates.length < 2 ? 0 : Math.max(...rates) - Math.min(...rates);
}

/** Returns the number of rows of each group in an event, [g], ignoring weights. */
export function rowsIn(event: FairnessEvent, rows: NetworkRows): Float64Array {
  return groupSums(event, { ...rows, weights: undefined }, () => 1);
}

/** Returns the weighted mean of a value over all rows. */
export function meanOver({ y, weights }: NetworkRows, valueOf: (row: number) => number): number {
  const weighed = Float64Array.from(y, (_, row) => valueOf(row) * (weights?.[row] ?? 1));
  return sum(weighed) / (weights === undefined ? y.length : sum(weights));
}

function groupSums(
  event: FairnessEvent,
  { y, groups, weights, groupCount }: NetworkRows,
  valueOf: (row: number) => number,
): Float64Array {
  const sums = new Float64Array(groupCount);
  for (let row = 0; row < y.length; row++) {
    const group = groups[row] as number;
    if (group < 0 || !isIn(event, y[row] as number)) continue;
    sums[group] = (sums[group] as number) + valueOf(row) * (weights?.[row] ?? 1);
  }
  return sums;
}
