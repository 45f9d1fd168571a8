import type { Matrix } from '../../data/matrix.ts';
import type { ColumnScales } from './column-scales.ts';
import { rowPatterns } from './row-patterns.ts';
import { weightedGram } from './weighted-gram.ts';

/**
 * The rows of a shifted and scaled matrix with a column of ones behind it, on the
 * host in float64, by what fitting asks of them. With X = [A | S], A the dense
 * columns and S the patterns of indicators (with the ones), what concerns S is
 * summed per pattern before it is summed per column: for m patterns, p dense
 * columns and q ones in a pattern, X'WX costs n p^2 / 2 + n p + m q (q + p).
 */
export interface HostDesign {
  readonly rows: number;
  /** Columns with the ones, which come last. */
  readonly parameters: number;
  /** X c, into `scores`. */
  score(c: Float64Array, scores: Float64Array): void;
  /** X'r. */
  gradient(residuals: Float64Array): Float64Array;
  /** X'WX, [parameters, parameters], its lower triangle. */
  products(weights: Float64Array): Float64Array;
}

/** Lays a matrix out for {@link HostDesign}. */
export function createHostDesign(matrix: Matrix, scales: ColumnScales): HostDesign {
  const { rows, columns } = matrix;
  const parameters = columns + 1;
  const dense = Int32Array.from(scales.dense);
  const p = dense.length;
  const a = denseColumns(matrix, scales);
  const { of, count, starts, places } = rowPatterns(matrix, scales, columns);

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

  const gradient = (residuals: Float64Array): Float64Array => {
    const byPattern = new Float64Array(count);
    const byColumn = new Float64Array(p);
    for (let row = 0, at = 0; row < rows; row++) {
      const residual = residuals[row] as number;
      byPattern[of[row] as number] = (byPattern[of[row] as number] as number) + residual;
      for (let k = 0; k < p; k++, at++) byColumn[k] = (byColumn[k] as number) + residual * (a[at] as number);
    }
    const sums = new Float64Array(parameters);
    for (let k = 0; k < p; k++) sums[dense[k] as number] = byColumn[k] as number;
    for (let pattern = 0; pattern < count; pattern++) {
      for (let at = starts[pattern] as number; at < (starts[pattern + 1] as number); at++) {
        sums[places[at] as number] = (sums[places[at] as number] as number) + (byPattern[pattern] as number);
      }
    }
    return sums;
  };

  /** Per pattern the sum of weights, then of weights times each dense column: [count, 1 + p]. */
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

  const products = (weights: Float64Array): Float64Array => {
    const sums = new Float64Array(parameters * parameters);
    const add = (i: number, j: number, value: number): void => {
      const place = i > j ? i * parameters + j : j * parameters + i;
      sums[place] = (sums[place] as number) + value;
    };
    const amongDense = weightedGram(a, p, weights);
    for (let k = 0; k < p; k++) {
      for (let l = 0; l <= k; l++) add(dense[k] as number, dense[l] as number, amongDense[k * p + l] as number);
    }
    const byPattern = sumsByPattern(weights);
    for (let pattern = 0, from = 0; pattern < count; pattern++, from += 1 + p) {
      const first = starts[pattern] as number;
      for (let at = first; at < (starts[pattern + 1] as number); at++) {
        const place = places[at] as number;
        for (let other = first; other <= at; other++) add(place, places[other] as number, byPattern[from] as number);
        for (let k = 0; k < p; k++) add(place, dense[k] as number, byPattern[from + 1 + k] as number);
      }
    }
    return sums;
  };

  return { rows, parameters, score, gradient, products };
}

/** The dense columns, shifted and scaled, [rows, dense]. */
function denseColumns({ rows, columns, values }: Matrix, { shift, scale, dense }: ColumnScales): Float64Array {
  const picked = new Float64Array(rows * dense.length);
  for (const [place, column] of dense.entries()) {
    const [from, by] = [shift[column] as number, scale[column] as number];
    for (let row = 0; row < rows; row++) {
      picked[row * dense.length + place] = ((values[row * columns + column] as number) - from) / by;
    }
  }
  return picked;
}
