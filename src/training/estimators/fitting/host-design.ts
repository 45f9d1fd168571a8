import type { Matrix } from '../../data/read-matrix.ts';
import type { ColumnScales } from './column-scales.ts';

/**
 * The distinct patterns of rows, where the pattern of a row is the set of indicator columns that are 1 in the row. If
 * the indicators are one-hot columns of a few attributes, there are far fewer patterns than rows. Sums over rows are
 * first computed per pattern, so that later sums have few terms.
 */
export interface RowPatterns {
  /** The pattern index of each row, [rows]. */
  readonly of: Int32Array;
  readonly count: number;
  /**
   * The start of each pattern in `indices`, [count + 1]. The columns of pattern k are at indexes starts[k] to starts[k
   * + 1].
   */
  readonly starts: Int32Array;
  /** The columns that are 1 in each pattern, ascending. Each pattern ends with the intercept's column. */
  readonly indices: Int32Array;
}

/** The prime of the Fowler-Noll-Vo hash function. */
const HASH_PRIME = 0x01000193;

/**
 * Finds the patterns of a matrix's indicator columns, in order of first occurrence.
 * @param intercept the column index at the end of every pattern
 */
export function rowPatterns(matrix: Matrix, { shift, indicators }: ColumnScales, intercept: number): RowPatterns {
  const { rows, columns, values } = matrix;
  const columnOf = Int32Array.from(indicators);
  const offOf = Float64Array.from(indicators, (column) => shift[column] as number);
  const index = createPatternIndex(rows);
  const of = new Int32Array(rows);
  const found = new Int32Array(indicators.length + 1);
  for (let row = 0; row < rows; row++) {
    let size = 0;
    for (let position = 0; position < columnOf.length; position++) {
      const column = columnOf[position] as number;
      if (values[row * columns + column] !== offOf[position]) found[size++] = column;
    }
    found[size++] = intercept;
    of[row] = index.numberOf(found, size);
  }
  return { of, ...index.read() };
}

/**
 * Creates an index that assigns numbers to distinct lists of columns, in the order in which they first occur. The index
 * is a hash table with open addressing, because a map with string keys takes ten times as long.
 */
function createPatternIndex(rows: number): {
  numberOf: (found: Int32Array, size: number) => number;
  read: () => Omit<RowPatterns, 'of'>;
} {
  const mask = 2 ** Math.ceil(Math.log2(2 * rows + 2)) - 1;
  const slots = new Int32Array(mask + 1).fill(-1);
  const starts = [0];
  const indices: number[] = [];

  const isAt = (pattern: number, found: Int32Array, size: number): boolean => {
    const start = starts[pattern] as number;
    if ((starts[pattern + 1] as number) - start !== size) return false;
    for (let index = 0; index < size; index++) if (indices[start + index] !== found[index]) return false;
    return true;
  };
  const add = (found: Int32Array, size: number): number => {
    for (let index = 0; index < size; index++) indices.push(found[index] as number);
    starts.push(indices.length);
    return starts.length - 2;
  };

  return {
    numberOf: (found, size) => {
      let slot = hashOf(found, size) & mask;
      for (;;) {
        const pattern = slots[slot] as number;
        if (pattern < 0) return (slots[slot] = add(found, size));
        if (isAt(pattern, found, size)) return pattern;
        slot = (slot + 1) & mask;
      }
    },
    read: () => ({ count: starts.length - 1, starts: Int32Array.from(starts), indices: Int32Array.from(indices) }),
  };
}

function hashOf(found: Int32Array, size: number): number {
  let hash = 0;
  for (let index = 0; index < size; index++) hash = Math.imul(hash ^ ((found[index] as number) + 1), HASH_PRIME);
  return hash ^ (hash >>> 15);
}

/**
 * The number of rows that are added to a sum together. Each sum is therefore read and written only once per four rows.
 */
const ROWS_AT_ONCE = 4;

/**
 * Computes the lower triangle of A'WA in float64, with rows columns^2 / 2 multiplications.
 * @param a [rows, columns], row-major
 * @param weights [rows]
 * @returns [columns, columns], row-major, 0 above the diagonal
 */
function weightedGram(a: Float64Array, columns: number, weights: Float64Array): Float64Array {
  const gram = new Float64Array(columns * columns);
  const rows = weights.length;
  for (let row = 0; row < rows; row += ROWS_AT_ONCE) {
    // If the block ends after the last row, its first row is used again with weight 0.
    const [second, third, fourth] = [row + 1, row + 2, row + 3];
    const [w0, w1, w2, w3] = [weights[row] as number, weights[second] ?? 0, weights[third] ?? 0, weights[fourth] ?? 0];
    const a0 = row * columns;
    const a1 = (second < rows ? second : row) * columns;
    const a2 = (third < rows ? third : row) * columns;
    const a3 = (fourth < rows ? fourth : row) * columns;
    for (let k = 0; k < columns; k++) {
      const v0 = w0 * (a[a0 + k] as number);
      const v1 = w1 * (a[a1 + k] as number);
      const v2 = w2 * (a[a2 + k] as number);
      const v3 = w3 * (a[a3 + k] as number);
      for (let l = 0, into = k * columns; l <= k; l++, into++) {
        gram[into] =
          (gram[into] as number) +
          v0 * (a[a0 + l] as number) +
          v1 * (a[a1 + l] as number) +
          v2 * (a[a2 + l] as number) +
          v3 * (a[a3 + l] as number);
      }
    }
  }
  return gram;
}

/** Rows that are prepared for {@link HostDesign}. */
export interface DesignRows {
  readonly rows: number;
  /** The dense columns, shifted and scaled, [rows, dense], row-major. */
  readonly dense: Float64Array;
  readonly patterns: RowPatterns;
}

/** Prepares the rows of a matrix. */
export function designRows(matrix: Matrix, scales: ColumnScales): DesignRows {
  const patterns = rowPatterns(matrix, scales, matrix.columns);
  return { rows: matrix.rows, dense: denseColumns(matrix, scales), patterns };
}

/**
 * The operations of a fit on a shifted and scaled matrix with an appended column of ones. The operations run on the
 * host in float64. Let X = [A | S], where A holds the dense columns and S holds the indicator columns and the ones.
 * Sums that involve S are first computed per pattern and then per column. For n rows, m patterns, p dense columns and q
 * ones in a pattern, X'WX takes n p^2 / 2 + n p + m q (q + p) operations.
 */
export interface HostDesign {
  readonly rows: number;
  /** The number of columns, including the column of ones, which is last. */
  readonly parameters: number;
  /** Writes X c to `scores`. */
  score(c: Float64Array, scores: Float64Array): void;
  /** Adds X'r to `sums`, [parameters]. */
  addGradient(residuals: Float64Array, sums: Float64Array): void;
  /** Adds the lower triangle of X'WX to `sums`, [parameters, parameters]. */
  addProducts(weights: Float64Array, sums: Float64Array): void;
}

/** Returns the operations on prepared rows. */
export function createHostDesign({ rows, dense: a, patterns }: DesignRows, scales: ColumnScales): HostDesign {
  const parameters = scales.shift.length + 1;
  const dense = Int32Array.from(scales.dense);
  const p = dense.length;
  const { of, count, starts, indices: places } = patterns;

  const score = (c: Float64Array, scores: Float64Array): void => {
    const ofPattern = new Float64Array(count);
    for (let pattern = 0; pattern < count; pattern++) {
      let sum = 0;
      for (let at = starts[pattern] as number; at < (starts[pattern + 1] as number); at++) {
        sum += c[places[at] as number] as number;
      }
      ofPattern[pattern] = sum;
    }
    const slopes = Float64Array.from(dense, (column) => c[column] as number);
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = ofPattern[of[row] as number] as number;
      for (let k = 0; k < p; k++, at++) sum += (a[at] as number) * (slopes[k] as number);
      scores[row] = sum;
    }
  };

  const addGradient = (residuals: Float64Array, sums: Float64Array): void => {
    const byPattern = new Float64Array(count);
    const byColumn = new Float64Array(p);
    for (let row = 0, at = 0; row < rows; row++) {
      const residual = residuals[row] as number;
      byPattern[of[row] as number] = (byPattern[of[row] as number] as number) + residual;
      for (let k = 0; k < p; k++, at++) byColumn[k] = (byColumn[k] as number) + residual * (a[at] as number);
    }
    for (let k = 0; k < p; k++)
      sums[dense[k] as number] = (sums[dense[k] as number] as number) + (byColumn[k] as number);
    for (let pattern = 0; pattern < count; pattern++) {
      for (let at = starts[pattern] as number; at < (starts[pattern + 1] as number); at++) {
        sums[places[at] as number] = (sums[places[at] as number] as number) + (byPattern[pattern] as number);
      }
    }
  };

  /**
   * Computes for each pattern the sum of weights and, for each dense column, the sum of weights times values: [count, 1
   * + p].
   */
  const sumsByPattern = (weights: Float64Array): Float64Array => {
    const sums = new Float64Array(count * (1 + p));
    for (let row = 0, from = 0; row < rows; row++) {
      const weight = weights[row] as number;
      let into = (of[row] as number) * (1 + p);
      sums[into] = (sums[into] as number) + weight;
      into++;
      for (let k = 0; k < p; k++, from++, into++) sums[into] = (sums[into] as number) + weight * (a[from] as number);
    }
    return sums;
  };

  const addProducts = (weights: Float64Array, sums: Float64Array): void => {
    const add = (i: number, j: number, value: number): void => {
      const index = i > j ? i * parameters + j : j * parameters + i;
      sums[index] = (sums[index] as number) + value;
    };
    const amongDense = weightedGram(a, p, weights);
    for (let k = 0; k < p; k++) {
      for (let l = 0; l <= k; l++) add(dense[k] as number, dense[l] as number, amongDense[k * p + l] as number);
    }
    const byPattern = sumsByPattern(weights);
    for (let pattern = 0, from = 0; pattern < count; pattern++, from += 1 + p) {
      const first = starts[pattern] as number;
      for (let at = first; at < (starts[pattern + 1] as number); at++) {
        const index = places[at] as number;
        for (let other = first; other <= at; other++) add(index, places[other] as number, byPattern[from] as number);
        for (let k = 0; k < p; k++) add(index, dense[k] as number, byPattern[from + 1 + k] as number);
      }
    }
  };

  return { rows, parameters, score, addGradient, addProducts };
}

/** Returns the dense columns, shifted and scaled, [rows, dense]. */
function denseColumns({ rows, columns, values }: Matrix, { shift, scale, dense }: ColumnScales): Float64Array {
  const picked = new Float64Array(rows * dense.length);
  for (const [index, column] of dense.entries()) {
    const [from, by] = [shift[column] as number, scale[column] as number];
    for (let row = 0; row < rows; row++) {
      picked[row * dense.length + index] = ((values[row * columns + column] as number) - from) / by;
    }
  }
  return picked;
}
