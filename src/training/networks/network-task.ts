import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { type BatchRows, bceFromLogits, bceSlope, type Tf } from '../../tensor/index.ts';

/** The names of a network's tasks: predicting a probability or predicting a number. */
export const NETWORK_TASKS = ['binary', 'regression'] as const;

/** One of {@link NETWORK_TASKS}. */
export type NetworkTask = (typeof NETWORK_TASKS)[number];

/** Computes the mean error of k models on a batch, [k]: binary cross-entropy, or squared error. */
export function batchError(tf: Tf, task: NetworkTask, outputs: Tensor2D, rows: BatchRows, posWeight = 1): Tensor1D {
  if (task === 'binary') return bceFromLogits(tf, outputs, rows.labels, rows.shares, posWeight);
  const squares: Tensor2D = outputs.sub<Tensor2D>(rows.labels).square();
  return tf.matMul(squares, rows.shares).reshape([-1]);
}

/** Computes the error of each row of one model, [n]: binary cross-entropy, or squared error. */
export function rowErrors(tf: Tf, task: NetworkTask, outputs: Tensor1D, labels: Tensor1D, posWeight = 1): Tensor1D {
  if (task === 'regression') return outputs.sub<Tensor1D>(labels).square();
  // log(1 + exp(-x)) for label 1 and log(1 + exp(x)) for label 0, without overflow.
  const signed = outputs.mul(tf.sub(1, labels.mul(2)));
  const entropy = tf.log1p(tf.exp(outputs.abs().neg())).add<Tensor1D>(tf.relu(signed));
  return entropy.mul(labels.mul(posWeight - 1).add(1));
}

/**
 * Computes the gradient of {@link batchError} with respect to the outputs, [k, n]. The gradient is computed from the
 * scores.
 */
export function errorGradient(tf: Tf, task: NetworkTask, scores: Tensor2D, rows: BatchRows, posWeight = 1): Tensor2D {
  if (task === 'binary') return bceSlope(tf, scores, rows.labels, rows.shares, posWeight);
  return scores.sub<Tensor2D>(rows.labels).mul(rows.shares.reshape([1, -1]).mul(2));
}

/** Returns the scores by which groups are compared, [k, n]: probabilities, or the values themselves. */
export function scoresOf(tf: Tf, task: NetworkTask, outputs: Tensor2D): Tensor2D {
  return task === 'binary' ? tf.sigmoid(outputs) : outputs;
}
