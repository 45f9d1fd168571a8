import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { largestGap, softRates, type Tf } from '../../tensor/index.ts';

/** What a network is penalised for, besides its error. */
export type FairnessPenaltyName = 'covariance' | 'mean_gap' | 'equalized_odds';

/** The names of the penalties. */
export const FAIRNESS_PENALTIES = ['covariance', 'mean_gap', 'equalized_odds'] as const;

/** One batch, as the penalties see it. */
interface PenaltyBatch {
  /** [n, k], probabilities of k models. */
  readonly scores: Tensor2D;
  /** [n, 1], 0 or 1. */
  readonly labels: Tensor2D;
  /** [g, n], each row's share of the batch's weight in its group's row, else 0. */
  readonly membership: Tensor2D;
  /** [1, n], each row's share of the batch's weight. */
  readonly shares: Tensor2D;
}

/** The penalty of each of k models, [k]. */
export type FairnessPenalty = (tf: Tf, batch: PenaltyBatch) => Tensor1D;

/**
 * Sum over groups of |cov(score, indicator of the group)|:
 * |mean(p z_g) - mean(p) mean(z_g)|.
 */
const covariance: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const together = tf.matMul(membership, scores);
  const apart = membership.sum(1, true).mul(tf.matMul(shares, scores));
  return together.sub(apart).abs().sum<Tensor1D>(0);
};

/** The largest squared difference of two groups' mean scores. */
const meanGap: FairnessPenalty = (tf, { scores, membership }) =>
  largestGap(tf, softRates(tf, scores, membership)).square<Tensor1D>();

/** The mean gap among the rows of each true label, summed over both labels. */
const equalizedOdds: FairnessPenalty = (tf, batch) => {
  const positive = batch.labels.transpose<Tensor2D>();
  const within = (mask: Tensor2D): Tensor1D =>
    meanGap(tf, { ...batch, membership: batch.membership.mul<Tensor2D>(mask) });
  return within(positive).add<Tensor1D>(within(tf.sub(1, positive)));
};

/** Every penalty by its name. */
export const PENALTIES: Readonly<Record<FairnessPenaltyName, FairnessPenalty>> = {
  covariance,
  mean_gap: meanGap,
  equalized_odds: equalizedOdds,
};
