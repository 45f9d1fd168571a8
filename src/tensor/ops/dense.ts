import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * A dense layer on data, x w + b, with its own gradient for w and b. The data
 * get none, since nothing before them learns. The gradient transposes first and
 * multiplies plainly: on wasm a product with a transpose flag costs ten times
 * as much. For the same reason sums over rows are products with ones.
 * @param x [n, d]
 * @param w [d, m]
 * @param b [m]
 * @returns [n, m]
 */
export function dense(tf: Tf, x: Tensor2D, w: Tensor2D, b: Tensor1D): Tensor2D {
  const layer = tf.customGrad(
    (weights: Tensor | ((saved: Tensor[]) => void), bias: Tensor | ((saved: Tensor[]) => void)) => ({
      value: tf.matMul(x, weights as Tensor2D).add(bias as Tensor1D),
      gradFunc: (upstream: Tensor) => {
        const flow = upstream as Tensor2D;
        return [tf.matMul(x.transpose(), flow), tf.matMul(tf.ones([1, x.shape[0]]), flow).reshape([-1])];
      },
    }),
  );
  return layer(w, b) as Tensor2D;
}

/**
 * k dense layers side by side, each on its own block of columns.
 * @param z [n, k p], the block of model i in columns i p to (i + 1) p
 * @param w [k, p, q]
 * @param b [k q]
 * @returns [n, k q]
 */
export function blockDense(tf: Tf, z: Tensor2D, w: Tensor, b: Tensor1D): Tensor2D {
  const [k = 0, p = 0, q = 0] = w.shape;
  return tf.tidy(() => {
    const blocks = z.reshape([-1, k, p]).transpose([1, 0, 2]);
    const products = tf.matMul(blocks, w).transpose([1, 0, 2]);
    return products.reshape<Tensor2D>([-1, k * q]).add(b);
  });
}

/**
 * The last layer of k models: each block of columns to one number per row, as
 * one product with a block-diagonal matrix.
 * @param z [n, k p]
 * @param w [k p, 1]
 * @param b [k]
 * @param blocks [k p, k], 1 where a row's unit belongs to the column's model
 * @returns [n, k]
 */
export function blockOutputs(tf: Tf, z: Tensor2D, w: Tensor2D, b: Tensor1D, blocks: Tensor2D): Tensor2D {
  return tf.tidy(() => tf.matMul(z, w.mul<Tensor2D>(blocks)).add(b));
}
