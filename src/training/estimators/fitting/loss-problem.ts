import type { Tensor2D } from '@tensorflow/tfjs';

import type { Matrix } from '../../data/matrix.ts';
import { normalEquations, type NormalEquations, type Tf, uploadRowBlocks } from '../../../tensor/index.ts';
import { deriveFrom } from '../../data/matrix.ts';
import type { PivotRule } from './cholesky.ts';
import type { ColumnScales } from './column-scales.ts';
import { createHostDesign } from './host-design.ts';
import type { RowLoss } from './row-loss.ts';

/** Rows as a loss sees them. */
export interface LossRows {
  readonly x: Matrix;
  readonly scales: ColumnScales;
  /** [rows] */
  readonly targets: Float64Array;
  /** [rows], above 0. */
  readonly weights: Float64Array;
}

/** A sum of losses of linear scores X c, with the derivatives that Newton's method needs. */
export interface LossProblem {
  /** The length of c: the columns and the intercept, which comes last. */
  readonly parameters: number;
  /** What a relative change of a sum must exceed to be more than rounding. */
  readonly rounding: number;
  readonly pivots: PivotRule;
  /** Whether a factor of X'WX is worth keeping for a further step, because another costs far more than a gradient. */
  readonly keepsFactor: boolean;
  /** The loss at c, minus its gradient, and its second derivative where it is wanted. */
  evaluate(c: Float64Array, withProducts: boolean): Promise<NormalEquations>;
  dispose(): void;
}

/** The problem on the host, in float64. */
export function createHostProblem({ x, scales, targets, weights }: LossRows, loss: RowLoss): LossProblem {
  const design = deriveFrom(x, 'host-design', () => createHostDesign(x, scales));
  const scores = new Float64Array(design.rows);
  const terms = { residuals: new Float64Array(design.rows), curvatures: new Float64Array(design.rows) };
  return {
    parameters: design.parameters,
    rounding: 1e-13,
    pivots: { leastPivot: 1e-12, jitter: 1e-8 },
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

/** The problem where the tensors are, in float32. */
export function createTensorProblem(tf: Tf, rows: LossRows, loss: RowLoss): LossProblem {
  const parameters = rows.x.columns + 1;
  const scaled = deriveFrom(rows.x, 'scaled-rows', () => scaledRows(rows.x, rows.scales));
  const blocks = uploadRowBlocks(tf, scaled, parameters);
  const perBlock = (values: Float64Array): Tensor2D[] =>
    blocks.blocks.map(({ start, rows: size }) =>
      tf.tensor2d(Float32Array.from(values.subarray(start, start + size)), [1, size]),
    );
  const [targets, weights] = [perBlock(rows.targets), perBlock(rows.weights)];
  return {
    parameters,
    rounding: 1e-6,
    pivots: { leastPivot: 1e-6, jitter: 1e-4 },
    keepsFactor: true,
    evaluate: async (c, withProducts) => {
      const point = tf.tensor2d(Float32Array.from(c), [1, parameters]);
      try {
        return await normalEquations(
          tf,
          blocks,
          ({ transposed }, index) => {
            const [target, weight] = [targets[index], weights[index]];
            if (target === undefined || weight === undefined) throw new RangeError('no such block');
            return loss.onTensors(tf, tf.matMul(point, transposed), target, weight);
          },
          withProducts,
        );
      } finally {
        point.dispose();
      }
    },
    dispose: () => {
      blocks.dispose();
      tf.dispose([...targets, ...weights]);
    },
  };
}

/** The columns, shifted and scaled, and ones behind them: [rows, columns + 1]. */
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
