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
import { createHostDesign, designRows } from './host-design.ts';
import type { RowLoss } from './row-loss.ts';

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

/** The limits of sums that are computed in float64. */
export const FLOAT64 = {
  rounding: 1e-13,
  pivots: { minPivot: 1e-12, jitter: 1e-8 },
  keepsFactor: false,
} as const satisfies Partial<LossProblem>;

/** Creates the problem on the host, in float64. */
export function createHostProblem({ x, scales, targets, weights }: LossRows, loss: RowLoss): LossProblem {
  const design = deriveFrom(x, 'host-design', () => createHostDesign(designRows(x, scales), scales));
  const scores = new Float64Array(design.rows);
  const terms = { residuals: new Float64Array(design.rows), curvatures: new Float64Array(design.rows) };
  return {
    ...FLOAT64,
    parameters: design.parameters,
    evaluate: (c, withProducts) => {
      design.score(c, scores);
      const sum = loss.onHost(scores, targets, weights, terms);
      const gradient = new Float64Array(design.parameters);
      design.addGradient(terms.residuals, gradient);
      const products = withProducts ? new Float64Array(design.parameters ** 2) : undefined;
      if (products !== undefined) design.addProducts(terms.curvatures, products);
      return Promise.resolve({ loss: sum, gradient, products });
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
