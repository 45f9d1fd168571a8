import { createRequire } from 'node:module';

import type { Matrix as MlMatrix } from 'ml-matrix';

import type { FitRows } from '../data/fit-rows.ts';
import type { Matrix } from '../data/matrix.ts';
import { linearScores, sigmoids } from './linear-score.ts';

/** How far to go. */
export interface DescentOptions {
  readonly numSteps: number;
  /** A factor on the summed gradient; the largest safe one when left out. */
  readonly learningRate: number | undefined;
}

/** Where descent ended. */
export interface Descent {
  /** [features + 1], the intercept last. */
  readonly parameters: Float64Array;
  readonly learningRate: number;
  /** The largest weighted mean of (y - p) x over features, each in units of its root mean square. */
  readonly slope: number;
}

/** What is used of ml-logistic-regression, which has no types of its own. */
interface MlModel {
  train(features: MlMatrix, target: MlMatrix): void;
  readonly classifiers: readonly { readonly weights: MlMatrix }[];
}
type MlModelClass = new (options: { readonly numSteps: number; readonly learningRate: number }) => MlModel;

const require = createRequire(import.meta.url);

/**
 * Runs ml-logistic-regression's gradient descent on rows of both classes, with a
 * column of ones for the intercept that it lacks.
 *
 * The gradient's Lipschitz constant is at most the trace of X'WX / 4, and the
 * inverse of that is the learning rate when none is given.
 */
export function descend({ x, y, weights }: FitRows, { numSteps, ...options }: DescentOptions): Descent {
  const features = withOnes(x);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const squares = weightedSums(features, weights, (value) => value * value);
  const learningRate = options.learningRate ?? 4 / squares.reduce((sum, square) => sum + square, 0);
  const parameters = train(features, y, weights, { numSteps, learningRate });
  const scores = linearScores(features, { coefficients: parameters, intercept: 0 });
  const residuals = sigmoids(scores).map((share, row) => (weights[row] as number) * ((y[row] as number) - share));
  const slopes = weightedSums(features, residuals, (value) => value).map(
    (sum, column) => Math.abs(sum) / total / Math.sqrt((squares[column] as number) / total || 1),
  );
  return { parameters, learningRate, slope: slopes.reduce((most, slope) => Math.max(most, slope), 0) };
}

/**
 * The package knows no weights, but takes its gradient as X' (y - p), with the
 * transpose asked of the matrix that it is given. A matrix whose transpose is
 * X'W makes that the gradient of the weighted loss, exactly.
 */
function train(
  features: Matrix,
  y: Float64Array,
  weights: Float64Array,
  options: { readonly numSteps: number; readonly learningRate: number },
): Float64Array {
  const { Matrix: DenseMatrix } = require('ml-matrix') as typeof import('ml-matrix');
  const MlLogisticRegression = require('ml-logistic-regression') as MlModelClass;
  const plain = new DenseMatrix(features.rows, features.columns);
  const weighted = new DenseMatrix(features.columns, features.rows);
  features.values.forEach((value, place) => {
    const [row, column] = [Math.floor(place / features.columns), place % features.columns];
    plain.set(row, column, value);
    weighted.set(column, row, value * (weights[row] as number));
  });
  plain.transpose = () => weighted;
  const model = new MlLogisticRegression(options);
  model.train(plain, DenseMatrix.columnVector(y));
  // Of its two classifiers the first tells whether a row is of another class than 0.
  return Float64Array.from(model.classifiers[0]?.weights.to1DArray() ?? []);
}

function withOnes({ rows, columns, values }: Matrix): Matrix {
  const widened = new Float64Array(rows * (columns + 1)).fill(1);
  for (let row = 0; row < rows; row++) {
    widened.set(values.subarray(row * columns, (row + 1) * columns), row * (columns + 1));
  }
  return { rows, columns: columns + 1, values: widened };
}

/** For each column the sum over rows of weight times a function of the value. */
function weightedSums({ columns, values }: Matrix, weights: Float64Array, of: (value: number) => number): Float64Array {
  const sums = new Float64Array(columns);
  values.forEach((value, place) => {
    sums[place % columns] =
      (sums[place % columns] as number) + (weights[Math.floor(place / columns)] as number) * of(value);
  });
  return sums;
}
