import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** Mean scores of groups, and which groups have rows at all. */
export interface SoftRates {
  /** [g, k]; 0 for a group without rows. */
  readonly rates: Tensor2D;
  /** [g, 1]; 1 for a group with rows, else 0. */
  readonly present: Tensor2D;
}

/**
 * The (weighted) mean score of every group under each of k models;
 * differentiable in the scores.
 * @param scores [n, k], probabilities
 * @param membership [g, n], a row's weight in its group's row, else 0
 */
export function softRates(tf: Tf, scores: Tensor2D, membership: Tensor2D): SoftRates {
  const sums = membership.sum<Tensor2D>(1, true);
  const present = sums.greater(0).cast<Tensor2D>('float32');
  // The added 1 stands only where a sum is 0, and keeps the division finite.
  const rates = tf.matMul(membership, scores).div<Tensor2D>(sums.add(tf.sub(1, present)));
  return { rates, present };
}

/**
 * The largest minus the smallest rate over the groups present; 0 where fewer
 * than two are. Differentiable.
 * @returns [k]
 */
export function largestGap(tf: Tf, { rates, present }: SoftRates): Tensor1D {
  // Rates lie in [0, 1], so a shift by 2 takes an absent group out of the running.
  const shift = tf.sub(1, present).mul(2);
  const gap = rates.sub(shift).max(0).sub<Tensor1D>(rates.add(shift).min(0));
  return gap.mul<Tensor1D>(present.sum().greater(1).cast('float32'));
}
