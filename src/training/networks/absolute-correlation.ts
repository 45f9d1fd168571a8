import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import type { FairnessPenalty } from './fairness-penalty.ts';

/** Keeps the gradient of a standard deviation of 0 finite. */
const VARIANCE_FLOOR = 1e-7;

/**
 * Absolute weighted correlation of predictions with indicators of groups,
 * |cov| / (sqrt(var + 1e-7) sqrt(var + 1e-7)).
 * @param scores [k, n]
 * @param indicators [n, g]
 * @param shares [n, 1], summing to 1, or all 0
 * @returns [k, g], in [0, 1]
 */
export function correlations(tf: Tf, scores: Tensor2D, indicators: Tensor2D, shares: Tensor2D): Tensor2D {
  const weights = shares.transpose<Tensor2D>();
  const centred = scores.sub<Tensor2D>(tf.matMul(scores, shares));
  const ofGroups = indicators.sub<Tensor2D>(tf.matMul(weights, indicators));
  const covariance = tf.matMul(centred.mul<Tensor2D>(weights), ofGroups);
  const spread = tf.matMul(centred.square<Tensor2D>(), shares).add(VARIANCE_FLOOR).sqrt();
  const groupSpread = tf.matMul(weights, ofGroups.square<Tensor2D>()).add(VARIANCE_FLOOR).sqrt();
  return covariance.abs().div(spread.mul(groupSpread));
}

/** The mean over the groups present of |corr(score, indicator of the group)|. */
export const absoluteCorrelation: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const indicators = membership.greater(0).cast<Tensor2D>('float32');
  const present = indicators.max<Tensor2D>(0, true);
  const sum = correlations(tf, scores, indicators, shares).mul(present).sum<Tensor1D>(1);
  return sum.div(present.sum().maximum(1));
};
