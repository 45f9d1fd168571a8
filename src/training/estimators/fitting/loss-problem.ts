import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import {
  normalEquations,
  type NormalEquations,
  type RowBlocks,
  type Tf,
  uploadRowBlocks,
} from '../../../tensor/index.ts';
import { deriveFrom, type Matrix } from '../../data/read-matrix.ts';
import type { PivotRule } from './cholesky.ts';
import type { ColumnScales } from './column-scales.ts';
import type { RowLoss } from './row-loss.ts';

/**
 * The distinct patterns of rows, where the pattern of a row is the set of indicator columns that are 1 in the row. If
 * the indicators are one-hot columns of a few attributes, there are far fewer patterns than rows. Sums over rows are
 * first computed per pattern, so that later sums have few terms.
 */
interface RowPatterns {
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
function rowPatterns(matrix: Matrix, { shift, indicators }: ColumnScales, intercept: number): RowPatterns {
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

/**
 * The operations of a fit on a shifted and scaled matrix with an appended column of ones. The operations run on the
 * host in float64. Let X = [A | S], where A holds the dense columns and S holds the indicator columns and the ones.
 * Sums that involve S are first computed per pattern and then per column. For n rows, m patterns, p dense columns and q
 * ones in a pattern, X'WX takes n p^2 / 2 + n p + m q (q + p) operations.
 */
interface HostDesign {
  readonly rows: number;
  /** The number of columns, including the column of ones, which is last. */
  readonly parameters: number;
  /** Writes X c to `scores`. */
  score(c: Float64Array, scores: Float64Array): void;
  /** Computes X'r. */
  gradient(residuals: Float64Array): Float64Array;
  /** Computes the lower triangle of X'WX, [parameters, parameters]. */
  products(weights: Float64Array): Float64Array;
}

/** Prepares a matrix for {@link HostDesign}. */
function createHostDesign(matrix: Matrix, scales: ColumnScales): HostDesign {
  const { rows, columns } = matrix;
  const parameters = columns + 1;
  const dense = Int32Array.from(scales.dense);
  const p = dense.length;
  const a = denseColumns(matrix, scales);
  const { of, count, starts, indices: places } = rowPatterns(matrix, scales, columns);

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

  const products = (weights: Float64Array): Float64Array => {
    const sums = new Float64Array(parameters * parameters);
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
    return sums;
  };

  return { rows, parameters, score, gradient, products };
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

/** The rows over which a loss is summed. */
export interface LossRows {
  readonly x: Matrix;
  readonly scales: ColumnScales;
  /** The targets, [rows]. */
  readonly targets: Float64Array;
  /** The weights, [rows], above 0. */
  readonly weights: Float64Array;
}

/** A sum of losses of linear scores X c, with the derivatives that Newton's method needs. */
export interface LossProblem {
  /** The length of c: the number of columns plus 1 for the intercept, which is last. */
  readonly parameters: number;
  /** If a sum changes by less than this share, the change may be a rounding error. */
  readonly rounding: number;
  readonly pivots: PivotRule;
  /**
   * Whether the Cholesky factor of X'WX may be reused for further steps. This saves time if computing a new factor
   * takes far longer than computing a gradient.
   */
  readonly keepsFactor: boolean;
  /** Evaluates the loss at c, the negative gradient, and, if requested, the second derivative. */
  evaluate(c: Float64Array, withProducts: boolean): Promise<NormalEquations>;
  dispose(): void;
}

/** Creates the problem on the host, in float64. */
export function createHostProblem({ x, scales, targets, weights }: LossRows, loss: RowLoss): LossProblem {
  const design = deriveFrom(x, 'host-design', () => createHostDesign(x, scales));
  const scores = new Float64Array(design.rows);
  const terms = { residuals: new Float64Array(design.rows), curvatures: new Float64Array(design.rows) };
  return {
    parameters: design.parameters,
    rounding: 1e-13,
    pivots: { minPivot: 1e-12, jitter: 1e-8 },
    keepsFactor: false,
    evaluate: (c, withProducts) => {
      design.score(c, scores);
      const sum = loss.onHost(scores, targets, weights, terms);
      return Promise.resolve({
        loss: sum,
        gradient: design.gradient(terms.residuals),
        products: withProducts ? design.products(terms.curvatures) : undefined,
      });
    },
    dispose: () => undefined,
  };
}

/** Rows on the tensor backend, over which a loss is summed. */
export interface TensorLossRows {
  /** The shifted and scaled rows, with a column of ones. */
  readonly blocks: RowBlocks;
  /** The targets, [rows] float32. */
  readonly targets: Tensor1D;
  /** The weights, [rows] float32, 0 or more. */
  readonly weights: Tensor1D;
}

/** Creates the problem on the tensor backend, in float32. The caller keeps the rows until the problem is solved. */
export function createTensorProblem(tf: Tf, { blocks, targets, weights }: TensorLossRows, loss: RowLoss): LossProblem {
  const parameters = blocks.columns;
  const [ownTargets, ownWeights] = [perBlock(tf, targets, blocks), perBlock(tf, weights, blocks)];
  return {
    parameters,
    rounding: 1e-6,
    pivots: { minPivot: 1e-6, jitter: 1e-4 },
    keepsFactor: true,
    evaluate: async (c, withProducts) => {
      const point = tf.tensor2d(Float32Array.from(c), [parameters, 1]);
      try {
        return await normalEquations(
          tf,
          blocks,
          ({ x, rows }, index) => {
            const [target, weight] = [ownTargets[index], ownWeights[index]];
            if (target === undefined || weight === undefined) throw new RangeError('no such block');
            const scores = tf.matMul(x.reshape<Tensor2D>([rows, parameters]), point);
            return loss.onTensors(tf, scores.reshape<Tensor2D>([1, rows]), target, weight);
          },
          withProducts,
        );
      } finally {
        point.dispose();
      }
    },
    dispose: () => {
      tf.dispose([...ownTargets, ...ownWeights]);
    },
  };
}

/** The number of rows that are sliced at once. On wasm, each slice copies the complete tensor. */
const ROWS_PER_SLICE = 2 ** 16;

/** Splits one value per row into a tensor per block, [1, rows]. */
function perBlock(tf: Tf, values: Tensor1D, { blocks }: RowBlocks): Tensor2D[] {
  return tf.tidy(() => {
    let [part, end] = [values, 0];
    let first = 0;
    return blocks.map(({ start, rows }) => {
      if (start >= end) {
        [first, end] = [start, Math.min(values.size, start + ROWS_PER_SLICE)];
        part = values.slice(first, end - first);
      }
      return part.slice(start - first, rows).reshape<Tensor2D>([1, rows]);
    });
  });
}

/** Uploads rows from the host. */
export function uploadLossRows(
  tf: Tf,
  { x, scales, targets, weights }: LossRows,
): TensorLossRows & { dispose: () => void } {
  const scaled = deriveFrom(x, 'scaled-rows', () => scaledRows(x, scales));
  const blocks = uploadRowBlocks(tf, scaled, x.columns + 1);
  const columns = [targets, weights].map((values) => tf.tensor1d(Float32Array.from(values)));
  const [ownTargets, ownWeights] = columns as [Tensor1D, Tensor1D];
  return {
    blocks,
    targets: ownTargets,
    weights: ownWeights,
    dispose: () => {
      blocks.dispose();
      tf.dispose(columns);
    },
  };
}

/** Returns the columns, shifted and scaled, with an appended column of ones: [rows, columns + 1]. */
function scaledRows({ rows, columns, values }: Matrix, { shift, scale }: ColumnScales): Float32Array {
  const scaled = new Float32Array(rows * (columns + 1));
  const factor = scale.map((value) => 1 / value);
  for (let row = 0, from = 0, into = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      scaled[into++] = ((values[from++] as number) - (shift[column] as number)) * (factor[column] as number);
    }
    scaled[into++] = 1;
  }
  return scaled;
}
