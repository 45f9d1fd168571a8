import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { BatchRows } from '../../tensor/index.ts';

/** What all models give all rows at the end of an epoch, on the host: [k, n], row-major. */
export interface EpochOutputs {
  readonly train: Float32Array;
  readonly validation: Float32Array;
  /** The values of what the objective watches, in its order. */
  readonly watched: readonly Float32Array[];
}

/** How the models stand at the end of an epoch. */
export interface Judgement {
  /** [k]; lower is better. */
  readonly scores: ArrayLike<number>;
  /** [k]; whether a model may rest when it gets no better. All may when left out. */
  readonly mayRest?: readonly boolean[];
}

/** How models that are trained together are judged by their mean losses on validation rows. */
export interface LossJudge {
  readonly kind: 'losses';
  /** The loss of each model on rows, [k]. */
  readonly losses: (outputs: Tensor2D, rows: BatchRows) => Tensor1D;
  /** The most rows at once, where cost grows with their square. */
  readonly mostRows?: number;
}

/** How models are judged by their outputs on all rows, on the host. */
export interface OutputJudge {
  readonly kind: 'outputs';
  /** What is read together with the outputs. */
  readonly watched: readonly Tensor[];
  readonly judge: (epoch: number, outputs: EpochOutputs) => Judgement;
}

/** What k networks that are trained together minimise. */
export interface Objective {
  /** The gradient of each model's loss on a batch in its outputs, [k, n]; inside `tf.tidy`. */
  slope(outputs: Tensor2D, batch: BatchRows): Tensor2D;
  /** Called after the models' step on a batch, inside `tf.tidy`, with what they gave before it. */
  afterStep?(outputs: Tensor2D, batch: BatchRows): void;
  /** How the models are judged at the end of an epoch. */
  readonly judge: LossJudge | OutputJudge;
  /** What a reader should know of the rows it was made for. */
  readonly warnings?: readonly string[];
  dispose(): void;
}
