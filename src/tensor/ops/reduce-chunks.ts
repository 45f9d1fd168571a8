import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Rows between two readings of a table that adds up on the device: few enough for
 * its sums in int32 (at most 2^8 a row), for counts in float32, and enough for the
 * readings to cost nothing.
 */
export const ROWS_PER_READING = 2 ** 22;

/** Parts that rows are cut into at once. */
const BRANCHES = 8;

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
  /** The table of a chunk, [size]; whole numbers add up exactly as far as its type holds them on this backend. */
  readonly tableOf: (slice: Slice) => Tensor1D;
}

/**
 * Reduces rows to a table where they are. Chunks bound the memory of what is
 * computed in between, and the size of float32 sums; tables are combined on the
 * device, and read back once per {@link ROWS_PER_READING} rows.
 * @returns [size]; without rows zeros, or -Infinity for maxima
 */
export async function reduceChunks(tf: Tf, reduction: ChunkedReduction): Promise<Float64Array> {
  const { rows, size, combine } = reduction;
  const totals = new Float64Array(size).fill(combine === 'max' ? -Infinity : 0);
  for (let start = 0; start < rows; start += ROWS_PER_READING) {
    const length = Math.min(ROWS_PER_READING, rows - start);
    const table = withSlices(
      tf,
      (tensor) => tensor,
      { start, length, rows },
      (slice) => tableOfRows(tf, reduction, length, slice),
    );
    try {
      const values = await table.data();
      for (let index = 0; index < size; index++) {
        const [total, value] = [totals[index] as number, values[index] as number];
        totals[index] = combine === 'max' ? Math.max(total, value) : total + value;
      }
    } finally {
      table.dispose();
    }
  }
  return totals;
}

/** The combined table of a part of the rows, cut into at most {@link BRANCHES} parts, and those likewise. */
function tableOfRows(tf: Tf, reduction: ChunkedReduction, rows: number, slice: Slice): Tensor1D {
  if (rows <= reduction.rowsPerChunk) return tf.tidy(() => reduction.tableOf(slice));
  let step = reduction.rowsPerChunk;
  while (step * BRANCHES < rows) step *= BRANCHES;
  let combined: Tensor1D | undefined;
  for (let start = 0; start < rows; start += step) {
    const length = Math.min(step, rows - start);
    const earlier = combined;
    combined = tf.tidy(() => {
      const table = withSlices(tf, slice, { start, length, rows }, (part) => tableOfRows(tf, reduction, length, part));
      if (earlier === undefined) return table;
      return reduction.combine === 'max' ? earlier.maximum<Tensor1D>(table) : earlier.add<Tensor1D>(table);
    });
    earlier?.dispose();
  }
  return combined as Tensor1D;
}

/**
 * Does work on some of the rows that an outer slice takes. Each tensor is cut
 * once, and its parts are cut from that: on wasm, whose `slice` copies the whole
 * tensor to take a part of it, the cost would else grow with the square of the rows.
 */
function withSlices<T>(
  tf: Tf,
  outer: Slice,
  { start, length, rows }: { readonly start: number; readonly length: number; readonly rows: number },
  work: (slice: Slice) => T,
): T {
  if (length === rows) return work(outer);
  const cut = new Map<Tensor1D, Tensor1D>();
  try {
    return work((tensor) => {
      const known = cut.get(tensor);
      if (known !== undefined) return known;
      const part = tf.keep(outer(tensor).slice(start, length));
      cut.set(tensor, part);
      return part;
    });
  } finally {
    tf.dispose([...cut.values()]);
  }
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
