import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { NetworkBatch } from './network-rows.ts';

/** What all models give all rows at the end of an epoch, on the host: [k, n], row-major. */
export interface EpochOutputs {
  readonly train: Float32Array;
  readonly validation: Float32Array;
}

/** How the models stand at the end of an epoch. */
export interface Judgement {
  /** [k]; lower is better. */
  readonly scores: ArrayLike<number>;
  /** [k]; whether a model may rest when it gets no better. All may when left out. */
  readonly mayRest?: readonly boolean[];
}

/** What k networks that are trained together minimise. */
export interface Objective {
  /** The loss of each model on a batch, [k]; differentiable in the outputs, [k, n]. */
  losses(outputs: Tensor2D, batch: NetworkBatch): Tensor1D;
  /** Called after the models' step on a batch, inside `tf.tidy`, with what they gave before it. */
  afterStep?(outputs: Tensor2D, batch: NetworkBatch): void;
  /** Judges the models at the end of an epoch; without it their mean loss on the validation rows does. */
  judge?(epoch: number, outputs: EpochOutputs): Promise<Judgement>;
  /** The most rows at once when validation rows are judged, where cost grows with their square; batches are as large as asked for. */
  readonly mostRows?: number;
  /** What a reader should know of the rows it was made for. */
  readonly warnings?: readonly string[];
  dispose(): void;
}
