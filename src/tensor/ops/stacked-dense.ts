import type { Tensor, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Dense layers of k models at once, units before rows: [units, rows]. So laid
 * out, the models' blocks lie one after another and need no transpose, and the
 * operand on the right of every product is narrow: on wasm it is packed anew
 * for each product, which costs more than the product where it is wide.
 *
 * @param x [d, n], the same rows for all models
 * @param w [k q, d]
 * @param b [k q, 1]
 * @returns [k q, n]
 */
export function sharedDense(tf: Tf, x: Tensor2D, w: Tensor2D, b: Tensor2D): Tensor2D {
  return tf.matMul(w, x).add(b);
}

/** The gradients of {@link sharedDense} for w and b, from that of its output, [k q, n]; `rows` is x transposed. */
export function sharedDenseGradients(tf: Tf, rows: Tensor2D, flow: Tensor2D): [w: Tensor2D, b: Tensor2D] {
  return [tf.matMul(flow, rows), rowSums(tf, flow)];
}

/**
 * k dense layers side by side, each on its own units.
 * @param z [k, p, n]
 * @param w [k, q, p]
 * @param b [k, q, 1]
 * @returns [k, q, n]
 */
export function stackedDense(tf: Tf, z: Tensor3D, w: Tensor3D, b: Tensor3D): Tensor3D {
  return tf.matMul(w, z).add(b);
}

/** The gradients of {@link stackedDense} for w, b and z, from that of its output, [k, q, n]. */
export function stackedDenseGradients(
  tf: Tf,
  z: Tensor3D,
  w: Tensor3D,
  flow: Tensor3D,
): [w: Tensor3D, b: Tensor3D, z: Tensor3D] {
  const [k, q, n] = flow.shape;
  const b = rowSums(tf, flow.reshape<Tensor2D>([k * q, n])).reshape<Tensor3D>([k, q, 1]);
  if (q === 1) {
    // With one unit the products are plain multiplications, and z needs no transpose.
    const ofW = tf.matMul(z, flow.reshape<Tensor3D>([k, n, 1])).reshape<Tensor3D>(w.shape);
    return [ofW, b, w.reshape<Tensor3D>([k, -1, 1]).mul(flow)];
  }
  return [tf.matMul(flow, z.transpose([0, 2, 1])), b, tf.matMul(w.transpose([0, 2, 1]), flow)];
}

/** Sums over the rows of [units, rows]: on wasm a product with ones costs a tenth of `sum`. */
function rowSums(tf: Tf, values: Tensor2D): Tensor2D {
  return tf.matMul(values, tf.ones([(values as Tensor).shape[1] as number, 1]));
}
