import type { Scalar, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import type { PenaltyBatch } from './fairness-penalty.ts';

/** The gradient of a penalty's sum over the models in the scores, [k, n], as TensorFlow.js finds it. */
export function automaticSlope(tf: Tf, value: (batch: PenaltyBatch) => Tensor1D, batch: PenaltyBatch): Tensor2D {
  const sum = (scores: Tensor): Scalar => value({ ...batch, scores: scores as Tensor2D }).sum();
  return tf.grad(sum)(batch.scores) as Tensor2D;
}
