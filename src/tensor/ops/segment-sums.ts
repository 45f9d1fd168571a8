import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Sums values per code, or counts each code's rows, in one float32 kernel.
 * TensorFlow's own library has no weighted `bincount` on a GPU, and names
 * `unsortedSegmentSum` for it, which wasm in turn lacks.
 * @param codes [n] int32, each in [0, cells], where `cells` leaves a row out
 * @param values [n] float32; 1 for each row when left out
 * @returns [cells] float32
 */
export function segmentSums(tf: Tf, codes: Tensor1D, cells: number, values?: Tensor1D): Tensor1D {
  return tf.tidy(() => {
    if (values === undefined) return tf.bincount(codes, tf.tensor1d([], 'float32'), cells);
    if (tf.getBackend() !== 'tensorflow') return tf.bincount(codes, values, cells);
    // One cell more takes the rows that are left out.
    return tf.unsortedSegmentSum(values, codes, cells + 1).slice<Tensor1D>(0, cells);
  });
}
