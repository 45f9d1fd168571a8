import type { Scalar, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import {
  type BatchRows,
  largestGap,
  softRates,
  squaredGapSlope,
  type Tf,
  timesTransposed,
} from '../../tensor/index.ts';

/** Added to variances, so that the gradient of a standard deviation of 0 stays finite. */
const VARIANCE_FLOOR = 1e-7;

/**
 * Computes the absolute weighted correlation of predictions with group indicators, |cov| / (sqrt(var + 1e-7) sqrt(var
 * + 1e-7)).
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

/** Computes the mean of |corr(score, indicator of the group)| over the groups present. */
export const absoluteCorrelation: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const indicators = membership.greater(0).cast<Tensor2D>('float32');
  const present = indicators.max<Tensor2D>(0, true);
  const sum = correlations(tf, scores, indicators, shares).mul(present).sum<Tensor1D>(1);
  return sum.div(present.sum().maximum(1));
};

/** A batch, with the models' scores. */
export interface PenaltyBatch extends BatchRows {
  /** [k, n]: the scores of k models for each row; probabilities, or a regression's values. */
  readonly scores: Tensor2D;
}

/** Computes the penalty of each of k models, [k]; differentiable in the scores. */
export type FairnessPenalty = (tf: Tf, batch: PenaltyBatch) => Tensor1D;

/**
 * Computes the gradient of a penalty's sum over the models with respect to the scores, [k, n]. The explicit formula is
 * much faster than automatic differentiation.
 */
export type PenaltyGradient = (tf: Tf, batch: PenaltyBatch) => Tensor2D;

/** A penalty in use. It may have its own parameters, which are trained together with the models. */
export interface PenaltyInUse {
  /** Returns the penalty of each model, [k]. */
  value(batch: PenaltyBatch): Tensor1D;
  /** Returns the gradient of the models' penalties with respect to their scores, [k, n]; call inside `tf.tidy`. */
  slope(batch: PenaltyBatch): Tensor2D;
  /** Updates the penalty's own parameters from a batch; call inside `tf.tidy`. */
  learn?(batch: PenaltyBatch): void;
  readonly maxRows?: number;
  dispose?(): void;
}

/** The sizes and the seed for a penalty with trainable parameters. */
export interface PenaltyContext {
  /** The number of models, k. */
  readonly models: number;
  /** The number of groups, g. */
  readonly groupCount: number;
  readonly seed: number;
}

/**
 * Computes the sum over groups of |cov(score, indicator of the group)|: |mean(p z_g) - mean(p) mean(z_g)|.
 */
export const covariance: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const together = tf.matMul(scores, membership);
  const separate = tf.matMul(scores, shares).mul(membership.sum(0, true));
  return together.sub(separate).abs().sum<Tensor1D>(1);
};

/**
 * Computes the gradient of {@link covariance}: the sum of each row's contributions to the covariances, with their
 * signs.
 */
export const covarianceGradient: PenaltyGradient = (tf, { scores, membership, shares }) => {
  const centred = membership.sub<Tensor2D>(shares.mul(membership.sum(0, true)));
  const covariances: Tensor2D = tf.matMul(scores, centred);
  // `sign` is not used because on wasm it returns 0 below 1e-6.
  const signs = tf.step(covariances).sub<Tensor2D>(tf.step(covariances.neg()));
  return timesTransposed(tf, signs, centred);
};

/** Computes the largest squared difference between two groups' mean scores. */
export const meanGap: FairnessPenalty = (tf, { scores, membership }) =>
  largestGap(tf, softRates(tf, scores, membership)).square<Tensor1D>();

/** Computes the gradient of {@link meanGap}. */
export const meanGapGradient: PenaltyGradient = (tf, { scores, membership }) => squaredGapSlope(tf, scores, membership);

/** Wraps a penalty or gradient: computes it separately for the rows of each true label and adds the results. */
function overLabels<Value extends Tensor>(of: (tf: Tf, batch: PenaltyBatch) => Value) {
  return (tf: Tf, batch: PenaltyBatch): Value => {
    const positives = batch.membership.mul<Tensor2D>(batch.labels.reshape([-1, 1]));
    const negatives = batch.membership.sub<Tensor2D>(positives);
    return of(tf, { ...batch, membership: positives }).add<Value>(of(tf, { ...batch, membership: negatives }));
  };
}

/** Computes the mean gap among the rows of each true label, summed over both labels. */
export const equalizedOdds: FairnessPenalty = overLabels(meanGap);

/** Computes the gradient of {@link equalizedOdds}. */
export const equalizedOddsGradient: PenaltyGradient = overLabels(meanGapGradient);

/**
 * Computes the gradient of a penalty's sum over the models with respect to the scores, [k, n], by automatic
 * differentiation.
 */
export function automaticGradient(tf: Tf, value: (batch: PenaltyBatch) => Tensor1D, batch: PenaltyBatch): Tensor2D {
  const sum = (scores: Tensor): Scalar => value({ ...batch, scores: scores as Tensor2D }).sum();
  return tf.grad(sum)(batch.scores) as Tensor2D;
}
