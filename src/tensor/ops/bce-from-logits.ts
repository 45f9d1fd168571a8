import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Mean binary cross-entropy of each of k models, from logits, stable for large ones:
 *
 *     l(x, y) = (1 - y) x + (1 + (posWeight - 1) y) (log(1 + exp(-|x|)) + max(-x, 0))
 *
 * @param logits [n, k]
 * @param labels [n, 1], 0 or 1
 * @param shares [1, n], each row's share of the mean; the shares sum to 1
 * @param posWeight factor on the loss of positive rows
 * @returns [k]
 */
export function bceFromLogits(tf: Tf, logits: Tensor2D, labels: Tensor2D, shares: Tensor2D, posWeight = 1): Tensor1D {
  return tf.tidy(() => {
    const softplus = tf.log1p(tf.exp(tf.neg(tf.abs(logits)))).add(tf.relu(tf.neg(logits)));
    const weighted = posWeight === 1 ? softplus : softplus.mul(labels.mul(posWeight - 1).add(1));
    const losses: Tensor2D = logits.sub(logits.mul(labels)).add(weighted);
    return tf.matMul(shares, losses).reshape([-1]);
  });
}
