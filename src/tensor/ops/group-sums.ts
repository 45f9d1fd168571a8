import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { isOnDevice } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';
import type { CellRows } from './cell-counts.ts';
import { reduceChunks, reduceOnDevice, segmentSums, type Slice } from './reduce-chunks.ts';

/** The number of rows summed by one kernel. */
const ROWS_PER_CHUNK = 2 ** 16;

/** If there are few groups, a chunk is divided into at most this number of parts, which are summed separately. */
const MAX_PARTS = 2 ** 8;

/**
 * Sums values per group on the tensor backend, in float32. The error relative to the group's sum of |values| is usually
 * below 1e-6. This error is below 1e-5 if all rounding errors have the same sign, and below 1e-4 for thousands of
 * groups. Values are summed in several levels: first over a few hundred rows, then over a chunk, and so on. Only sums
 * of similar size are therefore added to each other.
 *
 * For counts and weights, prefer `cellTables`. `cellTables` rounds all values relative to the largest value. A group
 * whose values are far smaller than the values of other groups therefore loses precision.
 * @param values the values, [n] float32
 * @param codes the group codes, [n] int32, each in [0, groups)
 * @returns the sum of each group, [groups]
 */
export async function groupSums(tf: Tf, values: Tensor1D, codes: Tensor1D, groups: number): Promise<Float64Array> {
  const rows: CellRows = { rows: codes.size, cells: groups, codesOf: (slice) => slice(codes) };
  const [sums] = await groupColumnSums(tf, rows, 1, (slice) => [slice(values)]);
  return sums as Float64Array;
}

/**
 * Computes {@link groupSums} for several columns, whose values are computed chunk by chunk.
 * @param columnsOf returns the columns of a chunk's rows and their codes, float32
 * @returns the sums of each column, [cells]
 */
export async function groupColumnSums(
  tf: Tf,
  { rows, cells, codesOf }: CellRows,
  columns: number,
  columnsOf: (slice: Slice, codes: Tensor1D) => readonly Tensor1D[],
): Promise<Float64Array[]> {
  const parts = 2 ** Math.floor(Math.log2(Math.min(MAX_PARTS, Math.max(1, ROWS_PER_CHUNK / cells))));
  const partOf = firstCells(tf, Math.min(rows, ROWS_PER_CHUNK), parts, cells);
  try {
    const table = await reduceChunks(tf, {
      rows,
      rowsPerChunk: ROWS_PER_CHUNK,
      size: columns * cells,
      tableOf: (slice) => {
        const codes = codesOf(slice);
        const indices = codes.add(partOf.slice(0, codes.size)).cast<Tensor1D>('int32');
        const sums = columnsOf(slice, codes).map((column) =>
          segmentSums(tf, indices, parts * cells, column)
            .reshape([parts, cells])
            .sum<Tensor1D>(0),
        );
        return tf.concat(sums);
      },
    });
    return Array.from({ length: columns }, (_, column) => table.slice(column * cells, (column + 1) * cells));
  } finally {
    partOf.dispose();
  }
}

/** The maximum number of values of the membership of a chunk's rows. */
const MAX_MEMBERSHIP = 2 ** 24;

/**
 * Sums columns per cell like {@link groupColumnSums}, but the sums stay on the tensor backend. Counts below 2^24 are
 * exact, and the result is the same in every run. On a GPU, `bincount` would add in the order in which threads finish.
 * Call it inside `tf.tidy`.
 * @returns [columns, cells]
 */
export function groupColumnTable(
  tf: Tf,
  { rows, cells, codesOf }: CellRows,
  columns: number,
  columnsOf: (slice: Slice) => readonly Tensor1D[],
): Tensor2D {
  const asProduct = isOnDevice(tf);
  const ofCells = tf.range(0, cells).reshape([1, cells]);
  const table = reduceOnDevice(tf, {
    rows,
    rowsPerChunk: asProduct
      ? Math.max(1, Math.min(ROWS_PER_CHUNK, Math.floor(MAX_MEMBERSHIP / cells)))
      : ROWS_PER_CHUNK,
    size: columns * cells,
    tableOf: (slice) => {
      const codes = codesOf(slice);
      if (!asProduct) return tf.concat(columnsOf(slice).map((column) => segmentSums(tf, codes, cells, column)));
      const membership = codes.reshape([-1, 1]).equal(ofCells).cast<Tensor2D>('float32');
      return tf.matMul(tf.stack([...columnsOf(slice)]) as Tensor2D, membership).reshape([-1]);
    },
  });
  return table.reshape([columns, cells]);
}

/**
 * Returns, for each row of a chunk, the first cell of the part to which the row belongs. The type is float32, because
 * TensorFlow's native library computes with int32 on the host even if it has a GPU.
 */
function firstCells(tf: Tf, rows: number, parts: number, cells: number): Tensor1D {
  const rowsPerPart = ROWS_PER_CHUNK / parts;
  return tf.tensor1d(Float32Array.from({ length: rows }, (_, row) => Math.floor(row / rowsPerPart) * cells));
}
