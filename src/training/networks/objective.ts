import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { BatchRows } from '../../tensor/index.ts';

/** The sums over all rows at the end of an epoch, on the host. */
interface EpochSums {
  /** For each of the judge's columns, its weighted sums by group and label (`eventCell`). */
  readonly train: readonly ArrayLike<number>[];
  readonly validation: readonly ArrayLike<number>[];
  /** The values of the objective's watched tensors, in the same order. */
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

/** Scores one model by sums over all rows, which are computed where the rows are. */
export interface SumsJudge {
  readonly kind: 'sums';
  /** The tensors that are read together with the sums. */
  readonly watched: readonly Tensor[];
  /** The number of columns that are summed. */
  readonly columns: number;
  /** Returns the columns of rows, given their outputs and labels, [m] each. */
  readonly columnsOf: (outputs: Tensor1D, labels: Tensor1D) => readonly Tensor1D[];
  readonly judge: (epoch: number, sums: EpochSums) => Judgement;
}

/** The objective minimised by k networks that are trained together. */
export interface Objective {
  /**
   * Returns the gradient of each model's loss on a batch with respect to its outputs, [k, n]. An objective with its own
   * parameters may then update them. Call this method inside `tf.tidy`.
   */
  slope(outputs: Tensor2D, batch: BatchRows): Tensor2D;
  /**
   * Runs after the models' step on a batch, inside `tf.tidy`. `outputs` are the outputs that were computed before the
   * step.
   */
  afterStep?(outputs: Tensor2D, batch: BatchRows): void;
  /** Scores the models at the end of an epoch. */
  readonly judge: LossJudge | SumsJudge;
  /** Warnings about the rows for which the objective was created. */
  readonly warnings?: readonly string[];
  dispose(): void;
}
