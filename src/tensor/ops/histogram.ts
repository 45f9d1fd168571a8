import type { Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';
import { type CellRows, sumRows } from './cell-counts.ts';

/** Bins of equal width. Values beyond either end are counted in the first or last bin. */
export interface HistogramBins {
  /** The width of a bin. Bin edges are exact in float32 if the width is a power of two. */
  readonly width: number;
  /** The position of the first bin, in units of `width`. */
  readonly first: number;
  readonly count: number;
  /**
   * `down`: bin b contains [(first + b) width, (first + b + 1) width). `nearest`: bin b contains the values nearest to
   * (first + b) width. A value halfway between two bins is counted in the upper bin.
   */
  readonly rounding: 'down' | 'nearest';
}

/**
 * Counts rows by group and bin, or sums their weights, on the tensor backend. Rows with NaN or a negative code are
 * excluded.
 * @param values the values, [n]
 * @param codes the group codes, [n], each below `groups`
 * @param weights the weights, [n] float32, finite
 * @returns the table, [groups, count], as a flat array
 */
export async function histogram(
  tf: Tf,
  values: Tensor1D,
  codes: Tensor1D,
  groups: number,
  bins: HistogramBins,
  weights?: Tensor1D,
): Promise<Float64Array> {
  const rows: CellRows = {
    rows: values.size,
    cells: groups * bins.count,
    codesOf: (slice) => histogramCells(tf, slice(values), slice(codes), groups, bins),
  };
  return sumRows(tf, rows, weights);
}

/**
 * Computes the cell of each row in a table of groups and bins. The cell of an excluded row is groups x count. Tables
 * may have up to 2^24 cells, the range of exact integers in float32.
 * @returns the cell of each row, [n] int32
 */
export function histogramCells(
  tf: Tf,
  values: Tensor1D,
  codes: Tensor1D,
  groups: number,
  { width, first, count, rounding }: HistogramBins,
): Tensor1D {
  return tf.tidy(() => {
    const numbers = values.cast<Tensor1D>('float32');
    const groupOf = codes.cast<Tensor1D>('float32');
    const scaled = numbers.div<Tensor1D>(width).clipByValue<Tensor1D>(first, first + count - 1);
    const lower = tf.floor(scaled);
    // floor(scaled + 0.5) would be wrong: in float32 the sum rounds 0.49999997 up to 1.
    const isUpper = scaled.sub(lower).greaterEqual<Tensor1D>(rounding === 'nearest' ? 0.5 : 1);
    const bin = lower.add(isUpper.cast('float32')).sub<Tensor1D>(first);
    const isLeftOut = tf.logicalOr(tf.isNaN(numbers), groupOf.less(0));
    return tf.where(isLeftOut, tf.fill(numbers.shape, groups * count), groupOf.mul(count).add(bin)).cast('int32');
  });
}
