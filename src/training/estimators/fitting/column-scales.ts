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
  const ranges = columnRanges(matrix);
  const dense = [...ranges.low.keys()].filter((column) => ranges.hasMore[column] === 1);
  const mean = ranges.low.slice();
  for (const [index, value] of columnMeans(matrix, dense).entries()) mean[dense[index] as number] = value;
  return scalesOf({ ...ranges, mean });
}

/** The range of each column. */
export interface ColumnRanges {
  /** The smallest values, [columns]. */
  readonly low: Float64Array;
  /** The largest values, [columns]. */
  readonly high: Float64Array;
  /** Whether the column has other values: 1 or 0, [columns]. */
  readonly hasMore: ArrayLike<number>;
  /** The means of the columns that have other values, [columns]. */
  readonly mean: Float64Array;
}

/** Chooses the scales of columns with the given ranges. */
export function scalesOf({ low, high, hasMore, mean }: ColumnRanges): ColumnScales {
  const columns = [...low.keys()];
  const dense = columns.filter((column) => hasMore[column] === 1);
  const shift = low.slice();
  for (const column of dense) shift[column] = mean[column] as number;
  const scale = shift.map((value, column) =>
    Math.max((high[column] as number) - value, value - (low[column] as number)),
  );
  const constants = columns.filter((column) => scale[column] === 0);
  for (const column of constants) scale[column] = 1;
  const indicators = columns.filter((column) => hasMore[column] === 0 && low[column] !== high[column]);
  return { shift, scale, dense, indicators, constants };
}

/** A linear score, X b + b0. */
export interface LinearScore {
  /** The coefficients b, one per column. */
  readonly coefficients: Float64Array;
  /** The intercept b0. */
  readonly intercept: number;
}

/** Converts b to c: with x = shift + scale u, b x + b0 = (b scale) u + (b0 + b shift). */
export function toScaled(
  { coefficients, intercept }: LinearScore,
  { shift, scale }: Pick<ColumnScales, 'shift' | 'scale'>,
): Float64Array {
  const c = new Float64Array(coefficients.length + 1);
  c.set(coefficients.map((value, column) => value * (scale[column] as number)));
  c[coefficients.length] = coefficients.reduce(
    (sum, value, column) => sum + value * (shift[column] as number),
    intercept,
  );
  return c;
}

/** Converts c to b, the inverse of {@link toScaled}. */
export function fromScaled(c: Float64Array, { shift, scale }: ColumnScales): LinearScore {
  const coefficients = scale.map((by, column) => (c[column] as number) / by);
  const intercept = coefficients.reduce(
    (sum, value, column) => sum - value * (shift[column] as number),
    c[scale.length] as number,
  );
  return { coefficients, intercept };
}

/** Returns the smallest and largest value of each column, and whether the column has other values. */
function columnRanges(matrix: Matrix): Omit<ColumnRanges, 'mean'> {
  const ranges = emptyRanges(matrix.columns);
  widenRanges(ranges, matrix, true);
  return ranges;
}

/** The ranges of the rows that were seen so far. */
type WideningRanges = Omit<ColumnRanges, 'mean' | 'hasMore'> & { readonly hasMore: Uint8Array };

function emptyRanges(columns: number): WideningRanges {
  return { low: new Float64Array(columns), high: new Float64Array(columns), hasMore: new Uint8Array(columns) };
}

/** Adds rows to ranges. */
function widenRanges(
  { low, high, hasMore }: WideningRanges,
  { rows, columns, values }: Matrix,
  isFirst: boolean,
): void {
  if (isFirst) for (const target of [low, high]) target.set(values.subarray(0, columns));
  for (let row = 0, index = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, index++) {
      const value = values[index] as number;
      if (value === low[column] || value === high[column]) continue;
      if (low[column] !== high[column]) hasMore[column] = 1;
      if (value < (low[column] as number)) low[column] = value;
      else if (value > (high[column] as number)) high[column] = value;
    }
  }
}

/** Computes the scales of columns whose rows come in blocks. */
export class BlockScales {
  readonly #ranges: WideningRanges;
  readonly #sums: Float64Array;
  #rows = 0;

  constructor(columns: number) {
    this.#ranges = emptyRanges(columns);
    this.#sums = new Float64Array(columns);
  }

  add(block: Matrix): void {
    const { rows, columns, values } = block;
    widenRanges(this.#ranges, block, this.#rows === 0);
    this.#rows += rows;
    for (let row = 0, index = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, index++) {
        this.#sums[column] = (this.#sums[column] as number) + (values[index] as number);
      }
    }
  }

  /** Returns the scales of all rows. The order of rows affects only the rounding errors of means. */
  finish(): ColumnScales {
    return scalesOf({ ...this.#ranges, mean: this.#sums.map((sum) => sum / this.#rows) });
  }
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
