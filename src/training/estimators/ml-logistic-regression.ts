import { createRequire } from 'node:module';

import type { Matrix as MlMatrix } from 'ml-matrix';
import { z } from 'zod';

import { TrainingError } from '../../exceptions/index.ts';
import { type FilledOptions, fillOptions, invalidParameter } from '../../internal/arguments.ts';
import { assertBinary, type FitRows } from '../data/fit-rows.ts';
import type { Matrix } from '../data/read-matrix.ts';
import { classTotals } from './class-weight.ts';
import { fromStoredParams, LINEAR_STATE, readEstimatorJson } from './estimator-state.ts';
import type { Estimator, EstimatorJson } from './estimator.ts';
import { LinearClassifier, type LinearFit, linearScores, oneClassFit, sigmoids } from './linear-model.ts';

/** The result of the gradient descent. */
interface Descent {
  /** The coefficients, [features + 1]. The last value is the intercept. */
  readonly parameters: Float64Array;
  readonly learningRate: number;
  /**
   * The largest component of the mean gradient: the maximum over features of |weighted mean of (y - p) x| / (root mean
   * square of the feature).
   */
  readonly slope: number;
}

/** The types of the parts of ml-logistic-regression that this module uses. The package itself has no types. */
interface MlModel {
  train(features: MlMatrix, target: MlMatrix): void;
  readonly classifiers: readonly { readonly weights: MlMatrix }[];
}
type MlModelClass = new (options: { readonly numSteps: number; readonly learningRate: number }) => MlModel;

const require = createRequire(import.meta.url);

/**
 * Runs ml-logistic-regression's gradient descent on rows of both classes. A column of ones provides the intercept,
 * because the package does not fit an intercept.
 *
 * The gradient's Lipschitz constant is at most the trace of X'WX / 4. The inverse of this bound is the default learning
 * rate.
 */
function descend({ x, y, weights }: FitRows, { numSteps, ...options }: FilledMlOptions): Descent {
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
 * Trains the package's model with weights, which the package does not support. The package computes its gradient as X'
 * (y - p), and gets the transpose X' from the given matrix. If the matrix returns X'W instead, the gradient is exactly
 * the gradient of the weighted loss.
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
  features.values.forEach((value, index) => {
    const [row, column] = [Math.floor(index / features.columns), index % features.columns];
    plain.set(row, column, value);
    weighted.set(column, row, value * (weights[row] as number));
  });
  plain.transpose = () => weighted;
  const model = new MlLogisticRegression(options);
  model.train(plain, DenseMatrix.columnVector(y));
  // The first of the model's two classifiers separates class 0 from all other classes.
  return Float64Array.from(model.classifiers[0]?.weights.to1DArray() ?? []);
}

function withOnes({ rows, columns, values }: Matrix): Matrix {
  const widened = new Float64Array(rows * (columns + 1)).fill(1);
  for (let row = 0; row < rows; row++) {
    widened.set(values.subarray(row * columns, (row + 1) * columns), row * (columns + 1));
  }
  return { rows, columns: columns + 1, values: widened };
}

/** Computes, for each column, the sum over rows of the weight times a function of the value. */
function weightedSums({ columns, values }: Matrix, weights: Float64Array, of: (value: number) => number): Float64Array {
  const sums = new Float64Array(columns);
  values.forEach((value, index) => {
    sums[index % columns] =
      (sums[index % columns] as number) + (weights[Math.floor(index / columns)] as number) * of(value);
  });
  return sums;
}

/** Options of {@link MlLogisticRegression}. */
export interface MlLogisticRegressionOptions {
  /**
   * The number of gradient descent steps. The fit never stops earlier.
   * @defaultValue 1000
   */
  readonly numSteps?: number | undefined;
  /**
   * The learning rate: the factor by which the gradient, summed over rows (not averaged), is multiplied. More rows
   * require a smaller factor.
   * @defaultValue 4 / (sum of weights times squared features, including 1 for the intercept); with this value, the
   *   descent cannot diverge
   */
  readonly learningRate?: number | undefined;
}

type FilledMlOptions = FilledOptions<MlLogisticRegressionOptions, 'learningRate'>;

const DEFAULTS: FilledMlOptions = { numSteps: 1000, learningRate: undefined };

const KIND = 'ml_logistic_regression';

/**
 * The fit has not converged if a component of the mean gradient is above this value. Each component is divided by the
 * root mean square of its feature.
 */
const FLAT = 1e-4;

const PARAMS = z.object({ num_steps: z.number(), learning_rate: z.nullable(z.number()) });

/**
 * Fits a logistic regression with the npm package ml-logistic-regression: plain gradient descent from 0, on the host
 * in float64. It minimises
 *
 *     sum_i w_i log(1 + exp(-s_i (x_i b + b0))),  s_i = -1 or 1
 *
 * without a penalty. Use it only if you already use the package: `LogisticRegression` with l2 = 0 finds the optimum in
 * about six steps. This class stops after `numSteps` steps. `warnings` reports if the fit has not converged.
 * Standardise the features first. If a plane separates the classes, no optimum exists, and the result depends on the
 * number of steps.
 *
 * The package supports neither an intercept nor weights. A column of ones provides the intercept. Weights are applied
 * exactly, by a weighted transpose in the gradient. If all rows have the same class, the model is constant, with
 * coefficients 0 and intercept 37 or -37. The fit is deterministic.
 * @example
 * ```ts
 * import { MlLogisticRegression } from 'evenhand/training';
 *
 * const model = await new MlLogisticRegression().fit([[-1], [0], [0], [1], [1]], [0, 0, 1, 1, 0]);
 * console.log(model.converged, [...(await model.predict([[-2], [2]]))]);
 * // true [ 0, 1 ]
 * ```
 */
export class MlLogisticRegression extends LinearClassifier<LinearFit> implements Estimator {
  readonly numSteps: number;
  readonly learningRate: number | undefined;

  /** @throws {ValueError} if an option is out of range */
  constructor(options: MlLogisticRegressionOptions = {}) {
    super();
    const { numSteps, learningRate } = fillOptions('MlLogisticRegression', options, DEFAULTS);
    this.numSteps = numSteps;
    this.learningRate = learningRate;
    if (!(Number.isInteger(this.numSteps) && this.numSteps > 0)) {
      throw invalidParameter('numSteps', 'be a whole number above 0', this.numSteps);
    }
    if (this.learningRate !== undefined && !(this.learningRate > 0 && this.learningRate < Infinity)) {
      throw invalidParameter('learningRate', 'be above 0', this.learningRate);
    }
    Object.freeze(this);
  }

  clone(): MlLogisticRegression {
    return new MlLogisticRegression(this);
  }

  toJSON(): EstimatorJson {
    return {
      kind: KIND,
      params: { num_steps: this.numSteps, learning_rate: this.learningRate ?? null },
      state: this.stored,
    };
  }

  /**
   * Reads the JSON that {@link MlLogisticRegression.toJSON} wrote.
   * @throws {DataValidationError} if the JSON has any other form
   */
  static fromJSON(json: unknown): MlLogisticRegression {
    const { params, state } = readEstimatorJson(json, KIND, { params: PARAMS, state: LINEAR_STATE });
    const learningRate = params.learning_rate ?? undefined;
    const model = fromStoredParams(KIND, () => new MlLogisticRegression({ numSteps: params.num_steps, learningRate }));
    model.restore(state);
    return model;
  }

  protected solve(rows: FitRows): LinearFit {
    assertBinary(rows.y);
    const constant = oneClassFit(rows.x.columns, classTotals(rows.y, rows.weights));
    if (constant !== undefined) return constant;
    const { numSteps } = this;
    const { parameters, learningRate, slope } = descend(rows, this);
    if (!parameters.every(Number.isFinite)) {
      throw new TrainingError('Gradient descent diverged: the coefficients are not finite.', {
        context: { learningRate, numSteps },
        suggestion: 'Omit learningRate, standardise the features, or use LogisticRegression.',
      });
    }
    const converged = slope <= FLAT;
    const rest = `a mean gradient of ${slope.toPrecision(2)} is left after ${String(numSteps)} steps; increase numSteps`;
    return Object.freeze({
      coefficients: parameters.slice(0, -1),
      intercept: parameters.at(-1) as number,
      iterations: numSteps,
      converged,
      warnings: Object.freeze(converged ? [] : [rest]),
    });
  }
}
