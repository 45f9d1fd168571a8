import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { BatchRows, Tf } from '../../tensor/index.ts';

/** A batch, with the models' scores. */
export interface PenaltyBatch extends BatchRows {
  /** The scores of k models for each row, [k, n]: probabilities, or the values of a regression. */
  readonly scores: Tensor2D;
}

/** Computes the penalty of each of k models, [k]. The result is differentiable with respect to the scores. */
export type FairnessPenalty = (tf: Tf, batch: PenaltyBatch) => Tensor1D;

/**
 * Computes the gradient of a penalty, summed over the models, with respect to the scores, [k, n], by an explicit
 * formula. This is much faster than automatic differentiation.
 */
export type PenaltyGradient = (tf: Tf, batch: PenaltyBatch) => Tensor2D;

/** A penalty during training. It may have its own parameters, which are trained together with the models. */
export interface PenaltyInUse {
  /** Returns the penalty of each model, [k]. */
  value(batch: PenaltyBatch): Tensor1D;
  /**
   * Returns the gradient of the models' penalties with respect to their scores, [k, n]. A penalty with its own
   * parameters then updates them from the same batch. Call this method inside `tf.tidy`.
   */
  slope(batch: PenaltyBatch): Tensor2D;
  readonly maxRows?: number;
  dispose?(): void;
}

/** The inputs for creating a penalty with trainable parameters. */
export interface PenaltyContext {
  /** The number of models, k. */
  readonly models: number;
  /** The number of groups, g. */
  readonly groupCount: number;
  readonly seed: number;
}
