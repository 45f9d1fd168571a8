import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { fusedMap, largestGap, softRates, squaredGapSlope, type Tf, timesTransposed } from '../../tensor/index.ts';
import { createAdversary } from './adversary.ts';
import { groupContrasts } from './group-contrasts.ts';
import { mmdGradient, mmdOfGroups } from './mmd.ts';
import type { FairnessPenalty, PenaltyBatch, PenaltyContext, PenaltyGradient, PenaltyInUse } from './penalty.ts';

/**
 * Computes the sum over groups of |cov(score, indicator of the group)|: |mean(p z_g) - mean(p) mean(z_g)|.
 */
const covariance: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const together = tf.matMul(scores, membership);
  const separate = tf.matMul(scores, shares).mul(membership.sum(0, true));
  return together.sub(separate).abs().sum<Tensor1D>(1);
};

/**
 * Computes the gradient of {@link covariance}: for each row, the sum over groups of the row's contribution to the
 * covariance times the covariance's sign.
 */
const covarianceGradient: PenaltyGradient = (tf, { scores, membership, shares }) => {
  const centred = membership.sub<Tensor2D>(shares.mul(membership.sum(0, true)));
  return timesTransposed(tf, signs(tf, tf.matMul(scores, centred)), centred);
};

/** Returns the sign of each value: 1, -1, or 0 for 0. `tf.sign` is not used, because on wasm it returns 0 below 1e-6. */
function signs(tf: Tf, values: Tensor2D): Tensor2D {
  return fusedMap(tf, {
    name: 'signs',
    shape: values.shape,
    inputs: { values },
    wgsl: 'value = select(0.0, 1.0, values > 0.0) - select(0.0, 1.0, values < 0.0);',
    plain: () => tf.step(values).sub(tf.step(values.neg())),
  });
}

/** The value added to variances, so that the gradient of a standard deviation of 0 stays finite. */
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
const absoluteCorrelation: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const indicators = membership.greater(0).cast<Tensor2D>('float32');
  const present = indicators.max<Tensor2D>(0, true);
  const sum = correlations(tf, scores, indicators, shares).mul(present).sum<Tensor1D>(1);
  return sum.div(present.sum().maximum(1));
};

/**
 * Computes the gradient of {@link absoluteCorrelation}. A group with weight a, and weight b outside, has var(z) = a b
 * and cov(p, z) = a b d, where d = sum_i h_i p_i is the difference between the mean scores inside and outside, with the
 * group's contrasts h. With the mean m of p, s^2 = var(p) + 1e-7 and t^2 = a b + 1e-7, the derivative of |corr| = a b
 * |d| / (s t) with respect to p_i is
 *
 *     sign(d) a b h_i / (s t) - |corr| w_i (p_i - m) / s^2
 *
 * for a row of weight w_i. If d is exactly 0, as for constant scores, the gradient is 0.
 */
const correlationGradient: PenaltyGradient = (tf, batch) => {
  const { scores, shares } = batch;
  const { contrasts, inside, outside, count } = groupContrasts(tf, batch);
  const [k, groups] = [scores.shape[0], contrasts.shape[1]];
  const centred = scores.sub<Tensor2D>(tf.matMul(scores, shares));
  const differences: Tensor2D = tf.matMul(centred, contrasts);
  const variances = tf.matMul(centred.square<Tensor2D>(), shares).add<Tensor2D>(VARIANCE_FLOOR);
  const slopes = fusedMap(tf, {
    name: 'correlation_slopes',
    shape: differences.shape,
    inputs: { differences, variances, inside, outside, count },
    numbers: { floor: VARIANCE_FLOOR },
    wgsl: `
      let direction = select(0.0, 1.0, differences > 0.0) - select(0.0, 1.0, differences < 0.0);
      let spread = inside * outside;
      value = direction * spread / (sqrt(variances * (spread + floor)) * count);`,
    plain: () => {
      const spread = inside.mul<Tensor2D>(outside);
      const scale = spread.div<Tensor2D>(spread.add(VARIANCE_FLOOR).sqrt().mul(count));
      return signs(tf, differences).mul(scale).div<Tensor2D>(variances.sqrt());
    },
  });
  const direct: Tensor2D = timesTransposed(tf, slopes, contrasts);
  const penalties = tf.matMul(slopes.reshape([k, 1, groups]), differences.reshape([k, groups, 1]));
  const inputs = {
    direct,
    penalties: penalties.reshape<Tensor2D>([k, 1]),
    variances,
    centred,
    weights: shares.reshape<Tensor2D>([1, -1]),
  };
  return fusedMap(tf, {
    name: 'correlation_gradient',
    shape: scores.shape,
    inputs,
    wgsl: 'value = direct - penalties / variances * weights * centred;',
    plain: () => direct.sub(centred.mul(inputs.weights).mul(inputs.penalties.div(variances))),
  });
};

/** Computes the largest squared difference between two groups' mean scores. */
const meanGap: FairnessPenalty = (tf, { scores, membership }) =>
  largestGap(tf, softRates(tf, scores, membership)).square<Tensor1D>();

/** Computes the gradient of {@link meanGap}. */
const meanGapGradient: PenaltyGradient = (tf, { scores, membership }) => squaredGapSlope(tf, scores, membership);

/**
 * Returns a function that computes a penalty (or a gradient) separately for the rows of each true label and adds the
 * two results.
 */
function overLabels<Value extends Tensor>(of: (tf: Tf, batch: PenaltyBatch) => Value) {
  return (tf: Tf, batch: PenaltyBatch): Value => {
    const positives = batch.membership.mul<Tensor2D>(batch.labels.reshape([-1, 1]));
    const negatives = batch.membership.sub<Tensor2D>(positives);
    return of(tf, { ...batch, membership: positives }).add<Value>(of(tf, { ...batch, membership: negatives }));
  };
}

/** Computes the mean gap among the rows of each true label, summed over both labels. */
const equalizedOdds: FairnessPenalty = overLabels(meanGap);

/** Computes the gradient of {@link equalizedOdds}. */
const equalizedOddsGradient: PenaltyGradient = overLabels(meanGapGradient);

/** The names of the penalties. */
export const FAIRNESS_PENALTIES = [
  'covariance',
  'mean_gap',
  'equalized_odds',
  'mmd',
  'correlation',
  'adversarial',
] as const;

/** The name of a fairness penalty that is added to a network's error. */
export type FairnessPenaltyName = (typeof FAIRNESS_PENALTIES)[number];

/** The penalties without trainable parameters, which depend only on the batch. */
export type PlainPenaltyName = Exclude<FairnessPenaltyName, 'adversarial'>;

/** The plain penalties by name. */
export const PLAIN_PENALTIES: Readonly<Record<PlainPenaltyName, FairnessPenalty>> = {
  covariance,
  mean_gap: meanGap,
  equalized_odds: equalizedOdds,
  mmd: mmdOfGroups,
  correlation: absoluteCorrelation,
};

/** The explicit gradients of the plain penalties. */
const PENALTY_GRADIENTS: Readonly<Record<PlainPenaltyName, PenaltyGradient>> = {
  covariance: covarianceGradient,
  mean_gap: meanGapGradient,
  equalized_odds: equalizedOddsGradient,
  mmd: mmdGradient,
  correlation: correlationGradient,
};

/** The maximum number of rows that are compared with each other at once, outside of training batches. */
const ROWS_OF_KERNEL = 512;

/** Returns the maximum number of rows for a penalty whose cost is quadratic in the number of rows. */
export function maxRowsOf(name: FairnessPenaltyName): number | undefined {
  return name === 'mmd' ? ROWS_OF_KERNEL : undefined;
}

/** Creates a penalty for a group of models. */
export function createPenalty(tf: Tf, name: FairnessPenaltyName, context: PenaltyContext): PenaltyInUse {
  if (name === 'adversarial') return createAdversary(tf, context);
  const maxRows = maxRowsOf(name);
  return {
    value: (batch) => PLAIN_PENALTIES[name](tf, batch),
    slope: (batch) => PENALTY_GRADIENTS[name](tf, batch),
    ...(maxRows === undefined ? {} : { maxRows }),
  };
}
