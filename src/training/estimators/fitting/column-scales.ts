import type { Matrix } from '../../data/read-matrix.ts';

/**
 * The shift and scale of each column before fitting. A value x becomes (x - shift) / scale, which is in [-1, 1].
 * Without scaling, columns whose mean is far above their spread, such as years and timestamps, would lose most of their
 * precision.
 */
export interface ColumnScales {
  /** The shifts, [columns]: the mean of a column, or the smaller value if a column has only two values. */
  readonly shift: Float64Array;
  /** The scales, [columns], above 0: the largest distance of a value from the shift. */
  readonly scale: Float64Array;
  /**
   * The columns with more than two values. Not included: columns with two values, which become 0 and 1, and constant
   * columns, which become 0.
   */
  readonly dense: readonly number[];
  /** The columns with exactly two values, which become 0 and 1. */
  readonly indicators: readonly number[];
  /** The columns with one value. */
  readonly constants: readonly number[];
}

/**
 * Computes the scales of a matrix's columns. The order of rows, and whether rows are repeated, affect the scales only
 * by rounding errors of a mean.
 */
export function columnScales(matrix: Matrix): ColumnScales {
  const { low, high, hasMore } = columnRanges(matrix);
  const columns = [...low.keys()];
  const dense = columns.filter((column) => hasMore[column] === 1);
  const shift = low.slice();
  for (const [index, mean] of columnMeans(matrix, dense).entries()) shift[dense[index] as number] = mean;
  const scale = shift.map((value, column) =>
    Math.max((high[column] as number) - value, value - (low[column] as number)),
  );
  const constants = columns.filter((column) => scale[column] === 0);
  for (const column of constants) scale[column] = 1;
  const indicators = columns.filter((column) => hasMore[column] === 0 && low[column] !== high[column]);
  return { shift, scale, dense, indicators, constants };
}

/** Returns the smallest and largest value of each column, and whether the column has other values. */
function columnRanges({ rows, columns, values }: Matrix): {
  low: Float64Array;
  high: Float64Array;
  hasMore: Uint8Array;
} {
  const low = Float64Array.from(values.subarray(0, columns));
  const high = low.slice();
  const hasMore = new Uint8Array(columns);
  for (let row = 1, index = columns; row < rows; row++) {
    for (let column = 0; column < columns; column++, index++) {
      const value = values[index] as number;
      if (value === low[column] || value === high[column]) continue;
      if (low[column] !== high[column]) hasMore[column] = 1;
      if (value < (low[column] as number)) low[column] = value;
      else if (value > (high[column] as number)) high[column] = value;
    }
  }
  return { low, high, hasMore };
}

function columnMeans({ rows, columns, values }: Matrix, chosen: readonly number[]): Float64Array {
  const sums = new Float64Array(chosen.length);
  for (let row = 0; row < rows; row++) {
    for (let index = 0; index < chosen.length; index++) {
      sums[index] = (sums[index] as number) + (values[row * columns + (chosen[index] as number)] as number);
    }
  }
  return sums.map((sum) => sum / rows);
}
