import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Rows between two readings of a table that adds up on the device: few enough
 * for its int32 sums (at most 2^8 a row), and enough for the readings to cost nothing.
 */
export const ROWS_PER_READING = 2 ** 22;

/** Takes a chunk's rows of a tensor. */
export type Slice = (rows: Tensor1D) => Tensor1D;

/** How rows become a table of numbers, chunk by chunk. */
export interface ChunkedReduction {
  readonly rows: number;
  /** At most {@link ROWS_PER_READING}. */
  readonly rowsPerChunk: number;
  /** The table's entries. */
  readonly size: number;
  /** How the tables of chunks become one; sums when left out. */
  readonly combine?: 'sum' | 'max';
  /** The table of a chunk, [size]; int32 where its sums must be exact. */
  readonly tableOf: (slice: Slice) => Tensor1D;
}

/**
 * Reduces rows to a table where they are. Chunks bound the memory of what is
 * computed in between, and the size of float32 sums; tables are combined on the
 * device, and read back once per {@link ROWS_PER_READING} rows.
 * @returns [size]; without rows zeros, or -Infinity for maxima
 */
export async function reduceChunks(tf: Tf, reduction: ChunkedReduction): Promise<Float64Array> {
  const isSum = reduction.combine !== 'max';
  const totals = new Float64Array(reduction.size).fill(isSum ? 0 : -Infinity);
  for (let start = 0; start < reduction.rows; start += ROWS_PER_READING) {
    const end = Math.min(start + ROWS_PER_READING, reduction.rows);
    const table = tf.tidy(() => combineChunks(tf, reduction, start, end));
    try {
      const values = await table.data();
      for (let index = 0; index < totals.length; index++) {
        const [total, value] = [totals[index] as number, values[index] as number];
        totals[index] = isSum ? total + value : Math.max(total, value);
      }
    } finally {
      table.dispose();
    }
  }
  return totals;
}

function combineChunks(tf: Tf, reduction: ChunkedReduction, start: number, end: number): Tensor1D {
  const { rows, rowsPerChunk, combine, tableOf } = reduction;
  let combined: Tensor1D | undefined;
  for (let from = start; from < end; from += rowsPerChunk) {
    const size = Math.min(rowsPerChunk, end - from);
    const earlier = combined;
    combined = tf.tidy(() => {
      const table = tableOf((tensor) => (size === rows ? tensor : tensor.slice(from, size)));
      if (earlier === undefined) return table;
      return combine === 'max' ? earlier.maximum<Tensor1D>(table) : earlier.add<Tensor1D>(table);
    });
    earlier?.dispose();
  }
  return combined as Tensor1D;
}

/**
 * The largest value of each of some columns.
 * @param columnsOf the columns of a chunk's rows, without NaN
 * @returns [columns]; -Infinity without rows
 */
export async function largestValues(
  tf: Tf,
  rows: number,
  columns: number,
  columnsOf: (slice: Slice) => readonly Tensor1D[],
): Promise<Float64Array> {
  return reduceChunks(tf, {
    rows,
    rowsPerChunk: ROWS_PER_READING,
    size: columns,
    combine: 'max',
    tableOf: (slice) => tf.stack(columnsOf(slice).map((column) => column.max())) as Tensor1D,
  });
}

/** The least power of two that is at least as large, within what float32 can divide by; 1 for 0. */
export function unitOf(largest: number): number {
  return largest === 0 ? 1 : 2 ** Math.min(127, Math.max(-126, Math.ceil(Math.log2(largest))));
}
