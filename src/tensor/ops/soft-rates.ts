import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** Mean scores of groups, and which groups have rows at all. */
export interface SoftRates {
  /** [k, g]; 0 for a group without rows. */
  readonly rates: Tensor2D;
  /** [1, g]; 1 for a group with rows, else 0. */
  readonly present: Tensor2D;
}

/** Takes an absent group out of a maximum or minimum: beyond every score, and added to nothing but zeros. */
const BEYOND = 1e30;

/**
 * The (weighted) mean score of every group under each of k models;
 * differentiable in the scores.
 * @param scores [k, n]
 * @param membership [n, g], a row's weight in its group's column, else 0
 */
export function softRates(tf: Tf, scores: Tensor2D, membership: Tensor2D): SoftRates {
  const sums = tf.matMul(tf.ones([1, membership.shape[0]]), membership);
  const present = sums.greater(0).cast<Tensor2D>('float32');
  // The added 1 stands only where a sum is 0, and keeps the division finite.
  const rates = tf.matMul(scores, membership).div<Tensor2D>(sums.add(tf.sub(1, present)));
  return { rates, present };
}

/**
 * The largest minus the smallest rate over the groups present; 0 where fewer
 * than two are. Differentiable.
 * @returns [k]
 */
export function largestGap(tf: Tf, { rates, present }: SoftRates): Tensor1D {
  const shift = tf.sub(1, present).mul(BEYOND);
  const gap = rates.sub(shift).max(1).sub<Tensor1D>(rates.add(shift).min(1));
  // Without two groups the difference is one of shifts, or none: its slope must not be taken.
  return tf.where(present.sum().greater(1), gap, tf.zerosLike(gap));
}
