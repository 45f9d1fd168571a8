import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';
import { fusedMap } from './fused-map.ts';
import { columnSums, timesTransposed } from './stacked-dense.ts';

/** Mean scores of groups, with a mask of the groups that have rows. */
export interface SoftRates {
  /** The mean scores, [k, g]; 0 for a group without rows. */
  readonly rates: Tensor2D;
  /** The mask, [1, g]; 1 for a group with rows, 0 for a group without rows. */
  readonly present: Tensor2D;
}

/**
 * The offset that excludes absent groups from a maximum or minimum. The offset is larger than every score and is added
 * only to zeros.
 */
const BEYOND = 1e30;

/**
 * Computes the (weighted) mean score of every group under each of k models. The result is differentiable with respect
 * to the scores.
 * @param scores the scores of k models for n rows, [k, n]
 * @param membership each row's weight in the column of its group, and 0 in the other columns, [n, g]
 */
export function softRates(tf: Tf, scores: Tensor2D, membership: Tensor2D): SoftRates {
  const { rates, present } = ratesOf(tf, tf.matMul(scores, membership), columnSums(tf, membership));
  return { rates, present };
}

/**
 * Computes rates from the sum of scores of each group, [k, g], and the weight of each group, [1, g]. The result also
 * contains the divisors: the weights, with 1 instead of 0.
 */
function ratesOf(tf: Tf, sums: Tensor2D, weights: Tensor2D): SoftRates & { readonly divisors: Tensor2D } {
  const present = weights.greater(0).cast<Tensor2D>('float32');
  // 1 is added only if a weight is 0, to keep the division finite.
  const divisors = weights.add<Tensor2D>(tf.sub(1, present));
  return { rates: sums.div<Tensor2D>(divisors), present, divisors };
}

/**
 * Computes the highest and the lowest rate over the groups present, [k, 1] each. If no group is present, both results
 * are outside the range of rates. The results are differentiable.
 */
export function extremes(tf: Tf, { rates, present }: SoftRates): { highest: Tensor2D; lowest: Tensor2D } {
  const shift = tf.sub(1, present).mul(BEYOND);
  return { highest: rates.sub(shift).max(1, true), lowest: rates.add(shift).min(1, true) };
}

/**
 * Computes the difference between the largest and the smallest rate over the groups present. The difference is 0 if
 * there are fewer than two groups. The result is differentiable.
 * @returns the difference under each model, [k]
 */
export function largestGap(tf: Tf, rates: SoftRates): Tensor1D {
  return gapOf(tf, rates).gap.reshape<Tensor1D>([-1]);
}

/** Computes the gap, [k, 1], and the highest and the lowest rate. */
function gapOf(tf: Tf, rates: SoftRates): ReturnType<typeof extremes> & { readonly gap: Tensor2D } {
  const { highest, lowest } = extremes(tf, rates);
  const gap = highest.sub<Tensor2D>(lowest);
  // With fewer than two groups, the difference is an artefact of the offsets, and its gradient must not be used.
  return { highest, lowest, gap: tf.where(rates.present.sum().greater(1), gap, tf.zerosLike(gap)) };
}

/**
 * Computes the gradient of the squared {@link largestGap} of {@link softRates} with respect to the scores in closed
 * form. The gradient with respect to a row's score is 2 (highest - lowest rate) (s_h - s_l), where s_h and s_l are the
 * row's shares of the weights of the groups with the highest and the lowest rate. If groups tie for the highest or
 * lowest rate, each of these groups gets the full gradient, as in automatic differentiation.
 * @returns the gradient, [k, n]
 */
export function squaredGapGradient(tf: Tf, scores: Tensor2D, membership: Tensor2D): Tensor2D {
  const sums: Tensor2D = tf.matMul(scores, membership);
  const weights = columnSums(tf, membership);
  const ofSums = fusedMap(tf, {
    name: 'squared_gap_slope',
    shape: sums.shape,
    inputs: { sums, weights },
    wgsl: SQUARED_GAP_GRADIENT,
    plain: () => gradientOfSums(tf, sums, weights),
  });
  return timesTransposed(tf, ofSums, membership);
}

/** Computes the gradient of the squared gap with respect to each group's sum of scores, [k, g]. */
function gradientOfSums(tf: Tf, sums: Tensor2D, weights: Tensor2D): Tensor2D {
  const { rates, present, divisors } = ratesOf(tf, sums, weights);
  const { highest, lowest, gap } = gapOf(tf, { rates, present });
  const direction = tf.sub(rates.equal(highest).cast('float32'), rates.equal(lowest).cast('float32'));
  return direction.mul(present).mul(gap.mul(2)).div(divisors);
}

/** WGSL code that computes the gradient of the squared gap for one group of one model. */
const SQUARED_GAP_GRADIENT = `
  let groups = uniforms.outShape[1];
  let first = (index / groups) * groups;
  var highest = -1e30;
  var lowest = 1e30;
  var present = 0;
  var own = 0.0;
  for (var group = 0; group < groups; group++) {
    let weight = all_weights[group];
    if (weight > 0.0) {
      let rate = all_sums[first + group] / weight;
      highest = max(highest, rate);
      lowest = min(lowest, rate);
      present++;
      // Stores the rate for comparison, because the same division in another expression may round differently.
      if (first + group == index) { own = rate; }
    }
  }
  value = 0.0;
  if (weights > 0.0 && present > 1) {
    let direction = select(0.0, 1.0, own == highest) - select(0.0, 1.0, own == lowest);
    value = 2.0 * (highest - lowest) * direction / weights;
  }`;
