import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { largestGap, softRates, type Tf } from '../../tensor/index.ts';

/** One batch, as penalties see it. */
export interface PenaltyBatch {
  /** [k, n], what k models give each row: probabilities, or a regression's values. */
  readonly scores: Tensor2D;
  /** [1, n], 0 or 1. */
  readonly labels: Tensor2D;
  /** [n, g], each row's share of the batch's weight in its group's column, else 0. */
  readonly membership: Tensor2D;
  /** [n, 1], each row's share of the batch's weight. */
  readonly shares: Tensor2D;
}

/** The penalty of each of k models, [k]; differentiable in the scores. */
export type FairnessPenalty = (tf: Tf, batch: PenaltyBatch) => Tensor1D;

/** A penalty in use: it may learn alongside the models. */
export interface PenaltyInUse {
  /** [k]; differentiable in the scores. */
  value(batch: PenaltyBatch): Tensor1D;
  /** Learns from a batch, inside `tf.tidy`. */
  learn?(batch: PenaltyBatch): void;
  readonly mostRows?: number;
  dispose?(): void;
}

/** What a penalty that learns needs to know. */
export interface PenaltyContext {
  /** Models, k. */
  readonly models: number;
  /** Groups, g. */
  readonly groupCount: number;
  readonly seed: number;
}

/**
 * Sum over groups of |cov(score, indicator of the group)|:
 * |mean(p z_g) - mean(p) mean(z_g)|.
 */
export const covariance: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const together = tf.matMul(scores, membership);
  const apart = tf.matMul(scores, shares).mul(membership.sum(0, true));
  return together.sub(apart).abs().sum<Tensor1D>(1);
};

/** The largest squared difference of two groups' mean scores. */
export const meanGap: FairnessPenalty = (tf, { scores, membership }) =>
  largestGap(tf, softRates(tf, scores, membership)).square<Tensor1D>();

/** The mean gap among the rows of each true label, summed over both labels. */
export const equalizedOdds: FairnessPenalty = (tf, batch) => {
  const positive = batch.labels.transpose<Tensor2D>();
  const within = (mask: Tensor2D): Tensor1D =>
    meanGap(tf, { ...batch, membership: batch.membership.mul<Tensor2D>(mask) });
  return within(positive).add<Tensor1D>(within(tf.sub(1, positive)));
};
