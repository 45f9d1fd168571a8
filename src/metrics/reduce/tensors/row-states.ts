import type { Tensor1D } from '@tensorflow/tfjs';

import type { Slice, Tf } from '../../../tensor/index.ts';

/** The state of a value that is neither 0, 1 nor missing. */
export const BAD_STATE = 3;

/** 0 where missing, 1 for 0, 2 for 1, {@link BAD_STATE} for anything else; float32. */
export function stateOf(tf: Tf, values: Tensor1D): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  const isZero = tf.equal(numbers, 0).cast('float32');
  const isOne = tf.equal(numbers, 1).cast('float32');
  const isMissing = tf.isNaN(numbers).cast('float32');
  return isZero.mul(-2).sub(isOne).sub(isMissing.mul(BAD_STATE)).add<Tensor1D>(BAD_STATE);
}

/** Where none of some values of a chunk's rows is NaN; bool. */
export function areKnown(tf: Tf, slice: Slice, columns: readonly (Tensor1D | undefined)[]): Tensor1D {
  const missing = columns
    .filter((column) => column !== undefined)
    .map((column) => tf.isNaN(slice(column).cast<Tensor1D>('float32')));
  return tf.logicalNot(missing.reduce((any, one) => tf.logicalOr(any, one)));
}

/** The values of known rows, and one value instead of the others; float32. */
export function known(tf: Tf, isKnown: Tensor1D, values: Tensor1D, otherwise = 0): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  return tf.where<Tensor1D>(isKnown, numbers, tf.fill(numbers.shape, otherwise));
}

/** The sizes of a chunk's values, 0 for NaN; float32. */
export function sizesOf(tf: Tf, slice: Slice, values: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [values]), slice(values)).abs();
}
