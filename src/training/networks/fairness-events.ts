import type { Tensor2D } from '@tensorflow/tfjs';

import type { BatchRows, Tf } from '../../tensor/index.ts';

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

/** Returns the cell of a row in tables by group and label. The first two cells are for rows without a group. */
export function eventCell(group: number, label: 0 | 1): number {
  return 2 * (group + 1) + label;
}

/** Returns the number of cells of tables by group and label. */
export function eventCells(groupCount: number): number {
  return 2 * (groupCount + 1);
}

/** Returns the values of a table by group and label, summed over the rows of an event, [g]. */
export function sumsIn(event: FairnessEvent, table: ArrayLike<number>): Float64Array {
  const at = (group: number, label: 0 | 1): number =>
    isIn(event, label) ? (table[eventCell(group, label)] as number) : 0;
  return Float64Array.from({ length: table.length / 2 - 1 }, (_, group) => at(group, 0) + at(group, 1));
}

/**
 * Returns the largest difference between two groups' mean values in an event. Only groups with a positive entry in
 * `counts` and a positive weight are compared. Returns 0 if there are fewer than two such groups.
 * @param sums the weighted sums of the values, by group and label
 * @param weights the weights, by group and label
 */
export function gapIn(
  event: FairnessEvent,
  sums: ArrayLike<number>,
  weights: ArrayLike<number>,
  counts: ArrayLike<number>,
): number {
  const ofGroups = sumsIn(event, weights);
  const rates = [...sumsIn(event, sums)].flatMap((total, group) => {
    const weight = ofGroups[group] as number;
    return (counts[group] as number) > 0 && weight > 0 ? [total / weight] : [];
  });
  return rates.length < 2 ? 0 : Math.max(...rates) - Math.min(...rates);
}
