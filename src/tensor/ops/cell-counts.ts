import type { Tensor1D } from '@tensorflow/tfjs';

import { largestExactInteger } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';
import { largestValues, reduceChunks, ROWS_PER_READING, segmentSums, type Slice, unitOf } from './reduce-chunks.ts';

/** Rows and the cells to which they belong. */
export interface CellRows {
  readonly rows: number;
  readonly cells: number;
  /** Returns the cells of a chunk's rows, int32 in [0, cells]. A row with the code `cells` is excluded. */
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/** Values to sum by cell. */
export interface CellValues {
  /** Returns the values of a chunk's rows, float32 and finite. */
  readonly valuesOf: (slice: Slice) => Tensor1D;
  /** An upper bound of the absolute values. A bound that is much larger than the values reduces precision. */
  readonly largest: number;
}

/** The number of bits of the integers that float32 represents exactly. */
const FLOAT32_BITS = 24;

/**
 * The number of bits to which values are rounded, counted from the first bit of the largest value. For example, a value
 * that is a million times smaller than the largest value keeps 20 bits.
 */
const KEPT_BITS = 40;

/** The number of bits in the lower half of a chunk's sum. */
const LOWER_BITS = FLOAT32_BITS / 2;

/**
 * The number of rows summed by one kernel. With fewer rows per kernel, values are split into fewer digits, but more
 * kernels are needed.
 */
const MIN_CHUNK = 2 ** 16;
const LARGEST_CHUNK = 2 ** 20;

/**
 * Counts rows by cell and sums columns of values by cell, on the tensor backend.
 *
 * Counts are exact. Values are rounded to multiples of 2^-40 of the largest value, and the sums of the rounded values
 * are exact. A plain float32 sum would lose every bit of a value that is smaller than the last bit of the sum.
 * Therefore, each value v is split into digits d1, d2, ... of b bits: v = unit x (d1 2^-b + d2 2^-2b + ...). The digits
 * are so small that their sum over a chunk is exact in float32, and the sum over chunks is exact in int32.
 *
 * On WebGPU, int32 is computed as float32. For this reason, the bits of each chunk's sum are split into two halves on
 * WebGPU, so that the sums over all chunks are also exact. The results are therefore the same on every backend and for
 * every order of rows.
 * @returns the counts, [cells], and the sums of each column, [cells]
 */
export async function cellTables(
  tf: Tf,
  { rows, cells, codesOf }: CellRows,
  columns: readonly CellValues[] = [],
): Promise<{ counts: Float64Array; sums: Float64Array[] }> {
  const rowsPerChunk = columns.length === 0 ? ROWS_PER_READING : chunkFor(cells);
  const bits = FLOAT32_BITS - Math.log2(rowsPerChunk);
  const digits = Math.ceil(KEPT_BITS / bits);
  const isCut = largestExactInteger(tf) <= 2 ** FLOAT32_BITS;
  /** The factors of the two halves of a sum, or 1 if sums are not split. */
  const halves = isCut ? [2 ** LOWER_BITS, 1] : [1];
  const table = await reduceChunks(tf, {
    rows,
    rowsPerChunk,
    size: cells * (1 + columns.length * digits * halves.length),
    tableOf: (slice) => {
      const codes = codesOf(slice);
      const sums = columns.flatMap(({ valuesOf, largest }) =>
        cutIntoDigits(tf, valuesOf(slice).div(unitOf(largest)), bits, digits).flatMap((digit) => {
          const sum = segmentSums(tf, codes, cells, digit);
          return isCut ? cutInHalves(tf, sum) : [sum];
        }),
      );
      const chunk = tf.concat([segmentSums(tf, codes, cells), ...sums]);
      return isCut ? chunk : chunk.cast('int32');
    },
  });
  const tableAt = (index: number): Float64Array => table.subarray(index * cells, (index + 1) * cells);
  const sums = columns.map(({ largest }, column) => {
    const sum = new Float64Array(cells);
    // Adds the smallest digits first, so that no digit is lost to rounding.
    for (let digit = digits; digit > 0; digit--) {
      const weight = unitOf(largest) * 2 ** (-bits * digit);
      const first = 1 + (column * digits + digit - 1) * halves.length;
      const parts = halves.map((_, half) => tableAt(first + half));
      for (let cell = 0; cell < cells; cell++) {
        const value = parts.reduce(
          (complete, part, half) => complete + (part[cell] as number) * (halves[half] as number),
          0,
        );
        sum[cell] = (sum[cell] as number) + value * weight;
      }
    }
    return sum;
  });
  return { counts: tableAt(0).slice(), sums };
}

/**
 * Returns the number of rows per kernel. More cells need more rows per kernel, because each kernel creates a table of
 * all cells.
 */
function chunkFor(cells: number): number {
  return Math.min(LARGEST_CHUNK, Math.max(MIN_CHUNK, 2 ** Math.ceil(Math.log2(cells))));
}

/** Splits integers into their upper and lower bits. The lower bits are never negative. */
function cutInHalves(tf: Tf, sums: Tensor1D): [upper: Tensor1D, lower: Tensor1D] {
  const upper: Tensor1D = tf.floor(sums.mul<Tensor1D>(2 ** -LOWER_BITS));
  return [upper, sums.sub(upper.mul(2 ** LOWER_BITS))];
}

function cutIntoDigits(tf: Tf, values: Tensor1D, bits: number, digits: number): Tensor1D[] {
  const base = 2 ** bits;
  let rest = values.mul<Tensor1D>(base);
  return Array.from({ length: digits }, () => {
    const digit = tf.round(rest);
    rest = rest.sub<Tensor1D>(digit).mul<Tensor1D>(base);
    return digit;
  });
}

/**
 * Counts the rows of each code, or sums their weights, on the tensor backend. The result is as exact as the result of
 * {@link cellTables}.
 * @param codes the codes, [n] int32, each in [0, cells)
 * @param cells the number of codes
 * @param weights the weights, [n] float32, finite
 * @returns the counts or sums, [cells]
 */
export async function cellCounts(tf: Tf, codes: Tensor1D, cells: number, weights?: Tensor1D): Promise<Float64Array> {
  return sumRows(tf, { rows: codes.size, cells, codesOf: (slice) => slice(codes) }, weights);
}

/** Counts the rows of each cell, or sums their weights. */
export async function sumRows(tf: Tf, rows: CellRows, weights?: Tensor1D): Promise<Float64Array> {
  if (weights === undefined) return (await cellTables(tf, rows)).counts;
  const [largest = 0] = await largestValues(tf, rows.rows, 1, (slice) => [slice(weights).abs()]);
  const { sums } = await cellTables(tf, rows, [{ valuesOf: (slice) => slice(weights), largest: Math.max(0, largest) }]);
  return sums[0] as Float64Array;
}
