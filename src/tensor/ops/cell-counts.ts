import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Rows reduced at once. A float32 sum of ones is exact up to 2^24; weighted
 * sums lose precision earlier, so their chunks are smaller.
 */
const CHUNK_OF_ONES = 2 ** 23;
const CHUNK_OF_WEIGHTS = 2 ** 14;

/**
 * Counts how often each code occurs, or sums the weights of each code's rows,
 * where the tensors are. Chunks are added up in float64 on the host, so that
 * counts are exact whatever the number of rows; weighted sums have the error of
 * float32 within a chunk.
 * @param codes [n] int32, each in [0, cells)
 * @param cells the number of codes
 * @param weights [n] float32
 * @returns [cells]
 */
export async function cellCounts(tf: Tf, codes: Tensor1D, cells: number, weights?: Tensor1D): Promise<Float64Array> {
  const sums = new Float64Array(cells);
  const step = weights === undefined ? CHUNK_OF_ONES : CHUNK_OF_WEIGHTS;
  for (let start = 0; start < codes.size; start += step) {
    const size = Math.min(step, codes.size - start);
    const part = tf.tidy(() =>
      tf.bincount(codes.slice(start, size), weights?.slice(start, size) ?? tf.tensor1d([], 'float32'), cells),
    );
    const values = await part.data();
    part.dispose();
    for (let cell = 0; cell < cells; cell++) sums[cell] = (sums[cell] as number) + (values[cell] as number);
  }
  return sums;
}

/**
 * Sums values per group: {@link cellCounts} with the values as weights.
 * @param values [n] float32
 * @param codes [n] int32, each in [0, groups)
 * @returns [groups]
 */
export async function groupSums(tf: Tf, values: Tensor1D, codes: Tensor1D, groups: number): Promise<Float64Array> {
  return cellCounts(tf, codes, groups, values);
}
