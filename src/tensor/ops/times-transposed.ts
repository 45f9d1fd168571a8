import type { Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { isOnDevice } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';

/**
 * A product with the second operand transposed, of matrices or of stacks of them. On wasm a product with a transpose
 * flag costs ten times as much as a transpose and a plain one; on a GPU the flag costs nothing.
 * @param a [.., n, d]
 * @param b [.., m, d]
 * @returns [.., n, m]
 */
export function timesTransposed<T extends Tensor2D | Tensor3D>(tf: Tf, a: T, b: T): T {
  if (isOnDevice(tf)) return tf.matMul(a, b, false, true);
  return tf.matMul(a, b.transpose(b.rank === 3 ? [0, 2, 1] : [1, 0]));
}
