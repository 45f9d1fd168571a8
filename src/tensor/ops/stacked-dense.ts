import type { Tensor, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { isOnDevice } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';
import { fusedMap } from './fused-map.ts';

/** The activation of a layer: none, or a rectifier (ReLU). */
export type Activation = 'none' | 'relu';

/**
 * Computes a dense layer of k models at once, in the layout [units, rows]. In this layout, the values of each model are
 * contiguous and need no transpose. The right operand of every product has few columns. This matters on wasm, where the
 * right operand is packed for each product: for many columns, packing takes longer than the product itself.
 *
 * @param rows the inputs, [n, d], the same rows for all models
 * @param w the weights, [k q, d]
 * @param b the biases, [k q, 1]
 * @returns the outputs, [k q, n]
 */
export function sharedDense(
  tf: Tf,
  rows: Tensor2D,
  w: Tensor2D,
  b: Tensor2D,
  activation: Activation = 'none',
): Tensor2D {
  return activated(tf, timesTransposed(tf, w, rows), b, activation);
}

/**
 * Computes the gradients of {@link sharedDense} with respect to w and b, given the gradient with respect to its output,
 * [k q, n].
 */
export function sharedDenseGradients(tf: Tf, rows: Tensor2D, flow: Tensor2D): [w: Tensor2D, b: Tensor2D] {
  return [tf.matMul(flow, rows), rowSums(tf, flow)];
}

/**
 * Computes k dense layers in parallel, each with its own units.
 * @param z the inputs, [k, p, n]
 * @param w the weights, [k, q, p]
 * @param b the biases, [k, q, 1]
 * @returns the outputs, [k, q, n]
 */
export function stackedDense(tf: Tf, z: Tensor3D, w: Tensor3D, b: Tensor3D, activation: Activation = 'none'): Tensor3D {
  return activated(tf, tf.matMul(w, z), b, activation);
}

/**
 * Computes the gradients of {@link stackedDense} with respect to w, b and z, given the gradient with respect to its
 * output, [k, q, n].
 */
export function stackedDenseGradients(
  tf: Tf,
  z: Tensor3D,
  w: Tensor3D,
  flow: Tensor3D,
): [w: Tensor3D, b: Tensor3D, z: Tensor3D] {
  const [k, q, n] = flow.shape;
  const b = rowSums(tf, flow.reshape<Tensor2D>([k * q, n])).reshape<Tensor3D>([k, q, 1]);
  if (q === 1) {
    // With one unit, the products are elementwise multiplications, and z needs no transpose.
    const ofW = tf.matMul(z, flow.reshape<Tensor3D>([k, n, 1])).reshape<Tensor3D>(w.shape);
    return [ofW, b, w.reshape<Tensor3D>([k, -1, 1]).mul(flow)];
  }
  return [timesTransposed(tf, flow, z), b, transposedTimes(tf, w, flow)];
}

/**
 * Computes the gradient with respect to a rectifier's input, given the gradient with respect to its output. The
 * gradient is 0 if the output is 0.
 */
export function rectifierGradient<T extends Tensor>(tf: Tf, flow: T, passed: T): T {
  return fusedMap(tf, {
    name: 'rectifier_gradient',
    shape: flow.shape,
    inputs: { flow, passed },
    wgsl: 'value = flow * select(select(0.0, 1.0, passed > 0.0), passed, isnan(passed));',
    plain: () => flow.mul(tf.step(passed)),
  });
}

/** Adds the bias and applies the activation. */
function activated<T extends Tensor>(tf: Tf, sums: T, bias: Tensor, activation: Activation): T {
  if (activation === 'none') return sums.add(bias);
  return fusedMap(tf, {
    name: 'bias_and_rectifier',
    shape: sums.shape,
    inputs: { sums, bias },
    // `max(NaN, 0)` may return either value, but NaN must propagate.
    wgsl: 'let sum = sums + bias; value = select(max(sum, 0.0), sum, isnan(sum));',
    plain: () => tf.relu(sums.add(bias)),
  });
}

/**
 * Computes the sum of each row of a matrix, [n, 1]. On wasm, a product with ones takes a tenth of the time of `sum`. On
 * a device, such a product would upload the ones each time.
 */
export function rowSums(tf: Tf, values: Tensor2D): Tensor2D {
  if (isOnDevice(tf)) return values.sum(1, true);
  return tf.matMul(values, tf.ones([(values as Tensor).shape[1] as number, 1]));
}

/** Computes the sum of each column of a matrix, [1, d], like {@link rowSums}. */
export function columnSums(tf: Tf, values: Tensor2D): Tensor2D {
  if (isOnDevice(tf)) return values.sum(0, true);
  return tf.matMul(tf.ones([1, values.shape[0]]), values);
}

/**
 * Computes a product with the second operand transposed, for matrices or stacks of matrices. On wasm, a product with a
 * transpose flag takes ten times as long as a transpose and a plain product. On a GPU, the flag has no cost.
 * @param a the first operand, [.., n, d]
 * @param b the second operand, [.., m, d]
 * @returns the product, [.., n, m]
 */
export function timesTransposed<T extends Tensor2D | Tensor3D>(tf: Tf, a: T, b: T): T {
  if (isOnDevice(tf)) return tf.matMul(a, b, false, true);
  // Not a reshape, even if b has one row: on wasm, a product reuses what it prepared for another shape of the same data.
  return tf.matMul(a, b.transpose(b.rank === 3 ? [0, 2, 1] : [1, 0]));
}

/** Computes a product with the first operand transposed, [.., d, m] of [.., n, d] and [.., n, m]. */
function transposedTimes(tf: Tf, a: Tensor3D, b: Tensor3D): Tensor3D {
  return isOnDevice(tf) ? tf.matMul(a, b, true, false) : tf.matMul(a.transpose([0, 2, 1]), b);
}
