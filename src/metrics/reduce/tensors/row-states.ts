import type { Tensor1D } from '@tensorflow/tfjs';

import { cellTables, type Slice, type Tf } from '../../../tensor/index.ts';
import type { DeviceGroups } from './device-groups.ts';

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

/** Counts the rows of each group that lack a value, [groups]. */
export async function droppedRows(
  tf: Tf,
  { rows, labels, codesOf }: DeviceGroups,
  isWhole: (slice: Slice) => Tensor1D,
): Promise<Float64Array> {
  const { counts } = await cellTables(tf, {
    rows,
    cells: labels.length + 1,
    codesOf: (slice) =>
      known(tf, tf.logicalNot(isWhole(slice)), codesOf(slice), -1)
        .add(1)
        .cast('int32'),
  });
  return counts.slice(1);
}

/** The sizes of a chunk's values, 0 for NaN; float32. */
export function sizesOf(tf: Tf, slice: Slice, values: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [values]), slice(values)).abs();
}
