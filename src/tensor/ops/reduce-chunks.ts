import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * The number of rows that are added to a table on the device before the table is read. The number is small enough for
 * exact sums in int32 (if a row adds at most 2^8) and for exact counts in float32. It is large enough that the cost of
 * reads is negligible.
 */
export const ROWS_PER_READING = 2 ** 22;

/** At each level of the recursion, rows are split into at most this number of parts. */
const BRANCHES = 8;

/** Returns the rows of a tensor that belong to the current chunk. */
export type Slice = (rows: Tensor1D) => Tensor1D;

/** A reduction of rows to a table of numbers, chunk by chunk. */
export interface ChunkedReduction {
  readonly rows: number;
  /** The number of rows of a chunk, at most {@link ROWS_PER_READING}. */
  readonly rowsPerChunk: number;
  /** The number of entries of the table. */
  readonly size: number;
  /** How the tables of chunks are combined. By default, they are summed. */
  readonly combine?: 'sum' | 'max';
  /**
   * Computes the table of a chunk, [size]. Sums of integers are exact if they are in the range that the table's type
   * represents exactly on this backend.
   */
  readonly tableOf: (slice: Slice) => Tensor1D;
}

/**
 * Reduces rows to a table on the tensor backend. Chunks limit the memory of intermediate results and the size of
 * float32 sums. Tables are combined on the device and read once per {@link ROWS_PER_READING} rows.
 * @returns the table, [size]; if there are no rows, zeros for sums and -Infinity for maxima
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

/**
 * Reduces rows to a table that stays on the tensor backend. Sums of integers are exact within the exact range of the
 * table's type. Call it inside `tf.tidy`.
 * @returns [size]
 */
export function reduceOnDevice(tf: Tf, reduction: ChunkedReduction): Tensor1D {
  return tableOfRows(tf, reduction, reduction.rows, (tensor) => tensor);
}

/**
 * Computes the combined table of a range of rows. The function splits the range recursively into at most {@link
 * BRANCHES} parts.
 */
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
 * Calls a function with a slice that selects some of the rows of an outer slice. The part is cut from the tensor that
 * the outer slice returns, and the result is reused within the call. On wasm, each `slice` copies the complete tensor.
 * Slicing every part from the complete tensor would make the cost quadratic in the number of rows.
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
 * Returns the largest value of each column.
 * @param columnsOf returns the columns of a chunk's rows, without NaN
 * @returns the largest value of each column, [columns]; -Infinity if there are no rows
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

/**
 * Returns the smallest power of two that is at least `largest`, limited to numbers by which float32 can divide. Returns
 * 1 if `largest` is 0.
 */
export function unitOf(largest: number): number {
  return largest === 0 ? 1 : 2 ** Math.min(127, Math.max(-126, Math.ceil(Math.log2(largest))));
}

/**
 * Sums values per code (or counts rows per code) in one float32 kernel. On a GPU, TensorFlow's native library has no
 * weighted `bincount`, so `unsortedSegmentSum` is used with that library. Wasm has no `unsortedSegmentSum`.
 * @param codes the codes, [n] int32, each in [0, cells]; a row with the code `cells` is excluded
 * @param values the values, [n] float32; 1 for each row by default
 * @returns the sum of each code, [cells] float32
 */
export function segmentSums(tf: Tf, codes: Tensor1D, cells: number, values?: Tensor1D): Tensor1D {
  return tf.tidy(() => {
    if (values === undefined) return tf.bincount(codes, tf.tensor1d([], 'float32'), cells);
    if (tf.getBackend() !== 'tensorflow') return tf.bincount(codes, values, cells);
    // One extra cell collects the excluded rows.
    return tf.unsortedSegmentSum(values, codes, cells + 1).slice<Tensor1D>(0, cells);
  });
}
