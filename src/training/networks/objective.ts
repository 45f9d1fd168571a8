import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { BatchRows } from '../../tensor/index.ts';

/** The outputs of all models for all rows at the end of an epoch, on the host: [k, n], row-major. */
interface EpochOutputs {
  readonly train: Float32Array;
  readonly validation: Float32Array;
  /** The values of the tensors in {@link OutputJudge.watched}, in the same order. */
  readonly watched: readonly Float32Array[];
}

/** The scores of the models at the end of an epoch. */
export interface Judgement {
  /** The score of each model, [k]. A lower score is better. */
  readonly scores: ArrayLike<number>;
  /**
   * For each model, [k], whether its training may stop if the model does not improve. If omitted, the training of every
   * model may stop.
   */
  readonly mayRest?: readonly boolean[];
}

/** Scores each model by its mean loss on the validation rows. */
export interface LossJudge {
  readonly kind: 'losses';
  /** Returns the loss of each model on rows, [k]. */
  readonly losses: (outputs: Tensor2D, rows: BatchRows) => Tensor1D;
  /** The maximum number of rows to process at once, if the cost is quadratic in the number of rows. */
  readonly maxRows?: number;
}

/** Scores models by their outputs on all rows, on the host. */
export interface OutputJudge {
  readonly kind: 'outputs';
  /** The tensors that are read together with the outputs. */
  readonly watched: readonly Tensor[];
  readonly judge: (epoch: number, outputs: EpochOutputs) => Judgement;
}

/** The objective minimised by k networks that are trained together. */
export interface Objective {
  /**
   * Returns the gradient of each model's loss on a batch with respect to its outputs, [k, n]. Call this method inside
   * `tf.tidy`.
   */
  slope(outputs: Tensor2D, batch: BatchRows): Tensor2D;
  /**
   * Runs after the models' step on a batch, inside `tf.tidy`. `outputs` are the outputs that were computed before the
   * step.
   */
  afterStep?(outputs: Tensor2D, batch: BatchRows): void;
  /** Scores the models at the end of an epoch. */
  readonly judge: LossJudge | OutputJudge;
  /** Warnings about the rows for which the objective was created. */
  readonly warnings?: readonly string[];
  dispose(): void;
}
