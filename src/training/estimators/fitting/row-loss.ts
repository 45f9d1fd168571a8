import type { Tensor2D } from '@tensorflow/tfjs';

import type { BlockTerms, Tf } from '../../../tensor/index.ts';

/** The contributions of rows to the derivatives of a sum of losses. The contributions are overwritten at every step. */
interface RowTerms {
  /** The negative derivative with respect to the score, times the row's weight. */
  readonly residuals: Float64Array;
  /** The second derivative with respect to the score, times the row's weight. */
  readonly curvatures: Float64Array;
}

/** A loss of a score z for a target t. The loss is convex in z. */
export interface RowLoss {
  /** Fills `terms` and returns the weighted sum of losses. */
  onHost(scores: Float64Array, targets: Float64Array, weights: Float64Array, terms: RowTerms): number;
  /** Computes the same values as `onHost` on the tensor backend. Each tensor is [1, rows]. */
  onTensors(tf: Tf, scores: Tensor2D, targets: Tensor2D, weights: Tensor2D): BlockTerms;
}

/**
 * The loss log(1 + exp(-t z)) for t = -1 or 1. Let q = 1 / (1 + exp(t z)) be the probability of the wrong class. The
 * derivatives are -t q and q (1 - q). Unlike y - p, both derivatives have full precision even if q is tiny.
 */
export const LOGISTIC_LOSS: RowLoss = {
  onHost: (scores, targets, weights, { residuals, curvatures }) => {
    let loss = 0;
    for (let row = 0; row < scores.length; row++) {
      const [sign, weight] = [targets[row] as number, weights[row] as number];
      const margin = sign * (scores[row] as number);
      const small = Math.exp(-Math.abs(margin));
      const share = 1 / (1 + small);
      const wrong = margin > 0 ? small * share : share;
      loss += weight * (Math.log1p(small) + Math.max(0, -margin));
      residuals[row] = weight * sign * wrong;
      curvatures[row] = weight * small * share * share;
    }
    return loss;
  },
  onTensors: (tf, scores, targets, weights) => {
    const against = tf.neg(targets.mul<Tensor2D>(scores));
    const wrong = tf.sigmoid(against);
    const weighted = weights.mul<Tensor2D>(wrong);
    return {
      losses: weights.mul<Tensor2D>(tf.softplus(against)),
      residuals: weighted.mul<Tensor2D>(targets),
      weights: weighted.sub<Tensor2D>(weighted.mul<Tensor2D>(wrong)),
    };
  },
};

/** The loss (t - z)^2 / 2. */
export const SQUARED_LOSS: RowLoss = {
  onHost: (scores, targets, weights, { residuals, curvatures }) => {
    let loss = 0;
    for (let row = 0; row < scores.length; row++) {
      const weight = weights[row] as number;
      const rest = (targets[row] as number) - (scores[row] as number);
      loss += (weight * rest * rest) / 2;
      residuals[row] = weight * rest;
      curvatures[row] = weight;
    }
    return loss;
  },
  onTensors: (_tf, scores, targets, weights) => {
    const rests = targets.sub<Tensor2D>(scores);
    const residuals = weights.mul<Tensor2D>(rests);
    return { losses: residuals.mul<Tensor2D>(rests).div<Tensor2D>(2), residuals, weights };
  },
};
