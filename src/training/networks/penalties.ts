import type { Scalar, Tensor, Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import {
  type BatchRows,
  createAdam,
  joinParameters,
  largestGap,
  type MatrixShape,
  softRates,
  splitParameters,
  squaredGapSlope,
  stackedDense,
  type Tf,
  timesTransposed,
} from '../../tensor/index.ts';
import { MIN_SHARE } from './fairness-events.ts';

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

/** A batch, with the models' scores. */
export interface PenaltyBatch extends BatchRows {
  /** The scores of k models for each row, [k, n]: probabilities, or the values of a regression. */
  readonly scores: Tensor2D;
}

/** Computes the penalty of each of k models, [k]. The result is differentiable with respect to the scores. */
type FairnessPenalty = (tf: Tf, batch: PenaltyBatch) => Tensor1D;

/**
 * Computes the gradient of a penalty, summed over the models, with respect to the scores, [k, n], by an explicit
 * formula. This is much faster than automatic differentiation.
 */
type PenaltyGradient = (tf: Tf, batch: PenaltyBatch) => Tensor2D;

/** A penalty during training. It may have its own parameters, which are trained together with the models. */
interface PenaltyInUse {
  /** Returns the penalty of each model, [k]. */
  value(batch: PenaltyBatch): Tensor1D;
  /**
   * Returns the gradient of the models' penalties with respect to their scores, [k, n]. Call this method inside
   * `tf.tidy`.
   */
  slope(batch: PenaltyBatch): Tensor2D;
  /** Updates the penalty's own parameters from a batch. Call this method inside `tf.tidy`. */
  learn?(batch: PenaltyBatch): void;
  readonly maxRows?: number;
  dispose?(): void;
}

/** The inputs for creating a penalty with trainable parameters. */
interface PenaltyContext {
  /** The number of models, k. */
  readonly models: number;
  /** The number of groups, g. */
  readonly groupCount: number;
  readonly seed: number;
}

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
  const covariances: Tensor2D = tf.matMul(scores, centred);
  // `sign` is not used, because on wasm it returns 0 for values below 1e-6.
  const signs = tf.step(covariances).sub<Tensor2D>(tf.step(covariances.neg()));
  return timesTransposed(tf, signs, centred);
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

/**
 * Computes the gradient of a penalty, summed over the models, with respect to the scores, [k, n], by automatic
 * differentiation.
 */
export function automaticGradient(tf: Tf, value: (batch: PenaltyBatch) => Tensor1D, batch: PenaltyBatch): Tensor2D {
  const sum = (scores: Tensor): Scalar => value({ ...batch, scores: scores as Tensor2D }).sum();
  return tf.grad(sum)(batch.scores) as Tensor2D;
}

/** The kernels of {@link mmd}, which measure the similarity of two predictions. */
export const MMD_KERNELS = ['gaussian', 'laplacian'] as const;

/** One of {@link MMD_KERNELS}. */
export type MmdKernel = (typeof MMD_KERNELS)[number];

/** The distance at which a kernel has the value 1/e. */
export const KERNEL_LENGTH = 0.1;

/** The maximum number of rows that are compared with each other at once, outside of training batches. */
const ROWS_OF_KERNEL = 512;

/**
 * Computes the squared maximum mean discrepancy of two weighted samples: mean k(a, a) - 2 mean k(a, b) + mean k(b, b).
 * The means include the diagonal. Several predictors and several pairs of samples are computed at once.
 * @param points [k, n, f], the predictions of k models
 * @param contrasts [n, c], one column per pair of samples: the weights of the first sample minus the weights of the
 *   second sample; the weights of each sample sum to 1
 * @returns [k, c]
 */
export function mmd(
  tf: Tf,
  points: Tensor3D,
  contrasts: Tensor2D,
  kernel: MmdKernel = 'gaussian',
  length = KERNEL_LENGTH,
): Tensor2D {
  const [k, n, features] = points.shape;
  // Features are processed one at a time, so that the largest tensor is [k, n, n].
  const distances = Array.from({ length: features }, (_, feature) => {
    const one = features === 1 ? points : points.slice([0, 0, feature], [k, n, 1]);
    const difference = one.sub<Tensor3D>(one.transpose([0, 2, 1]));
    return kernel === 'gaussian' ? difference.square<Tensor3D>() : difference.abs<Tensor3D>();
  }).reduce((sum, distance) => sum.add<Tensor3D>(distance));
  const alike = distances.div(kernel === 'gaussian' ? -(length ** 2) : -length).exp();
  const weighted = tf.matMul(alike.reshape<Tensor2D>([k * n, n]), contrasts).reshape([k, n, -1]);
  return weighted.mul(contrasts.expandDims(0)).sum(1);
}

/**
 * Computes the MinDiff penalty: the distance between each group's scores and the scores of all other rows, averaged
 * over the groups present. The distance is the squared maximum mean discrepancy (Gaussian kernel of length 0.1). For
 * two groups, the penalty equals the discrepancy between the groups. The cost is quadratic in the number of rows.
 * Source: Prost et al. 2019.
 */
const mmdOfGroups: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const inside = membership.sum<Tensor2D>(0, true);
  const outside = shares.sum().sub<Tensor2D>(inside);
  const present = inside.greater(0).logicalAnd(outside.greater(MIN_SHARE)).cast<Tensor2D>('float32');
  const contrasts = membership
    .div(inside.maximum(MIN_SHARE))
    .sub<Tensor2D>(shares.sub(membership).div(outside.maximum(MIN_SHARE)))
    .mul<Tensor2D>(present);
  const discrepancies = mmd(tf, scores.expandDims<Tensor3D>(2), contrasts);
  return discrepancies.sum<Tensor1D>(1).div(present.sum().maximum(1));
};

/** The number of units of an adversary's hidden layer. */
const HIDDEN = 16;

/**
 * The learning rate of an adversary. It is usually higher than the learning rate of the models, so that an adversary
 * adapts quickly when its model changes.
 */
const RATE = 1e-2;

const WEIGHT_STREAM = 3;

/**
 * Creates an adversary for each model: a small network that predicts a row's group from the model's score.
 *
 * The penalty is the groups' entropy minus the adversary's cross-entropy. This difference is a lower bound of the
 * mutual information of score and group, in nats. The difference is 0 if a score carries no information about the
 * group. The models minimise the penalty (gradient reversal). The adversary is updated after each step of the models.
 *
 * Sources: Ganin et al. 2016; Zhang, Lemoine and Mitchell 2018, without their projection of gradients.
 */
export function createAdversary(tf: Tf, { models: k, groupCount: g, seed }: PenaltyContext): PenaltyInUse {
  const random = createRandom(seed, WEIGHT_STREAM);
  const shapes: MatrixShape[] = [
    { rows: HIDDEN, columns: 1 },
    { rows: HIDDEN, columns: 1 },
    { rows: g, columns: HIDDEN },
    { rows: g, columns: 1 },
  ];
  const drawn = shapes.flatMap(({ rows, columns }) =>
    Array.from({ length: rows * columns }, () => random.normal() / Math.sqrt(columns)),
  );
  // All adversaries start from the same weights. The models also start from the same weights.
  const parameters = tf.tidy(() => tf.variable(tf.tensor2d(drawn, [1, drawn.length], 'float32').tile([k, 1])));
  const adam = createAdam(tf, parameters);
  const weights = (): Tensor[] => splitParameters(parameters as unknown as Tensor2D, shapes);

  /** Returns the cross-entropy of the adversaries' predictions, [k]. */
  const error = (weights: readonly Tensor[], { scores, membership }: PenaltyBatch): Tensor1D => {
    const [w1, b1, w2, b2] = weights as [Tensor3D, Tensor3D, Tensor3D, Tensor3D];
    // The scores are centred and scaled, so that the adversary can separate probabilities that are close to each other.
    const z = scores.sub(0.5).mul(4).reshape<Tensor3D>([k, 1, -1]);
    const logits = stackedDense(tf, tf.relu(stackedDense(tf, z, w1, b1)), w2, b2);
    const shifted = logits.sub(logits.max(1, true));
    const logs = shifted.sub(shifted.exp().sum(1, true).log());
    return logs.mul(membership.transpose().expandDims(0)).sum<Tensor1D>([1, 2]).neg();
  };
  const value = (batch: PenaltyBatch): Tensor1D => {
    const sums = batch.membership.sum(0);
    const total = sums.sum();
    const shares = sums.div(total.maximum(1e-12));
    const entropy = shares.mul(shares.maximum(1e-12).log()).sum().neg().mul(total);
    return entropy.sub<Tensor1D>(error(weights(), batch));
  };
  return {
    value,
    slope: (batch) => automaticGradient(tf, value, batch),
    learn(batch) {
      const fixed = { ...batch, scores: batch.scores.clone() };
      const gradients = tf.grads((...given: Tensor[]) => error(given, fixed).sum())(weights());
      adam.step(joinParameters(tf, gradients, k), RATE);
    },
    dispose() {
      parameters.dispose();
      adam.dispose();
    },
  };
}

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

/** The gradients that have an explicit formula. The other penalties are differentiated automatically. */
const PENALTY_GRADIENTS: Readonly<Partial<Record<PlainPenaltyName, PenaltyGradient>>> = {
  covariance: covarianceGradient,
  mean_gap: meanGapGradient,
  equalized_odds: equalizedOddsGradient,
};

/** Returns the maximum number of rows for a penalty whose cost is quadratic in the number of rows. */
export function maxRowsOf(name: FairnessPenaltyName): number | undefined {
  return name === 'mmd' ? ROWS_OF_KERNEL : undefined;
}

/** Creates a penalty for a group of models. */
export function createPenalty(tf: Tf, name: FairnessPenaltyName, context: PenaltyContext): PenaltyInUse {
  if (name === 'adversarial') return createAdversary(tf, context);
  const value = (batch: PenaltyBatch): Tensor1D => PLAIN_PENALTIES[name](tf, batch);
  const maxRows = maxRowsOf(name);
  const written = PENALTY_GRADIENTS[name];
  const gradient = (batch: PenaltyBatch): Tensor2D =>
    written === undefined ? automaticGradient(tf, value, batch) : written(tf, batch);
  return maxRows === undefined ? { value, slope: gradient } : { value, slope: gradient, maxRows };
}
