import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { bceFromLogits, type Tf } from '../../tensor/index.ts';
import type { NetworkBatch } from './network-rows.ts';

/** The names of what a network may learn: a probability, or a number. */
export const NETWORK_TASKS = ['binary', 'regression'] as const;

/** One of {@link NETWORK_TASKS}. */
export type NetworkTask = (typeof NETWORK_TASKS)[number];

/** The mean error of k models on a batch, [k]: binary cross-entropy, or squared error. */
export function batchError(tf: Tf, task: NetworkTask, outputs: Tensor2D, batch: NetworkBatch, posWeight = 1): Tensor1D {
  if (task === 'binary') return bceFromLogits(tf, outputs, batch.labels, batch.shares, posWeight);
  const squares: Tensor2D = outputs.sub<Tensor2D>(batch.labels).square();
  return tf.matMul(squares, batch.shares).reshape([-1]);
}

/** What groups are compared by, [k, n]: probabilities, or the values themselves. */
export function scoresOf(tf: Tf, task: NetworkTask, outputs: Tensor2D): Tensor2D {
  return task === 'binary' ? tf.sigmoid(outputs) : outputs;
}
