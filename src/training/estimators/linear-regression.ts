import type { Rank, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import { z } from 'zod';

import { assertKnownOptions, type FilledOptions, fillOptions, oneOf } from '../../internal/arguments.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import { type BackendChoice, currentTensorflow, groupSums } from '../../tensor/index.ts';
import type { FitRows } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { readTensorFitRows } from '../data/tensor-fit-rows.ts';
import { cutToUnit, decide, decideTensor, inUnitsOfMean, requirePenalty } from './estimator-rows.ts';
import { fromStoredParams, LINEAR_STATE, readEstimatorJson } from './estimator-state.ts';
import {
  type EstimatorJson,
  type FitOptions,
  PREDICT_OPTION_NAMES,
  type PredictOptions,
  type TensorEstimator,
} from './estimator.ts';
import {
  fitLinearModel,
  fitTensorModel,
  type FittedLinearModel,
  fitWarnings,
  type LinearTask,
  type Precision,
  PRECISIONS,
} from './fitting/fit-linear-model.ts';
import { assertFiniteScore, notFinite } from './fitting/newton.ts';
import { SQUARED_LOSS } from './fitting/row-loss.ts';
import { type FitSources, type LinearFit, LinearModel } from './linear-model.ts';

/** Options of {@link LinearRegression}. */
export interface LinearRegressionOptions {
  /**
   * The weight of the penalty |b|^2, at least 0. This weight equals `alpha` of scikit-learn's `Ridge`. The intercept is
   * not penalised.
   * @defaultValue 0
   */
  readonly l2?: number | undefined;
  /**
   * 'float64' computes on the host and does not load TensorFlow.js. 'float32' computes the products on tensors and is
   * intended for matrices with many columns and rows.
   * @defaultValue 'float64'
   */
  readonly precision?: Precision | undefined;
  /**
   * The backend for tensor computations. This option is used only with 'float32'.
   * @defaultValue EVENHAND_TF_BACKEND if set, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const DEFAULTS: FilledOptions<LinearRegressionOptions, 'backend'> = { l2: 0, precision: 'float64', backend: undefined };

const KIND = 'linear_regression';

/**
 * The maximum number of steps. The first step solves the normal equations, and further steps correct rounding errors.
 */
const MAX_STEPS = 10;

/**
 * The fit ends with the first step that lowers the sum of squares by less than this share of the sum of squares around
 * the mean.
 */
const MIN_GAIN = 1e-20;

const PARAMS = z.object({ l2: z.number(), precision: z.enum(PRECISIONS), backend: z.nullable(z.string()) });

/**
 * Fits weighted least squares: b and b0 that minimise
 *
 *     sum_i w_i (y_i - x_i b - b0)^2 + l2 |b|^2
 *
 * The fit solves the normal equations of centred and scaled columns with steps of iterative refinement. Each step takes
 * O(rows features^2) time. If columns are collinear up to rounding, many solutions exist, and the fit returns the
 * solution with the least norm in scaled columns. The coefficient of a constant column is 0. `warnings` reports both
 * cases. If there is only one row, or if all values of y are equal, every prediction is that value.
 * @example
 * ```ts
 * import { LinearRegression } from 'evenhand/training';
 *
 * const model = await new LinearRegression().fit([[0], [1], [2]], [1, 3, 5]);
 * console.log(model.coefficients[0].toFixed(6), model.intercept.toFixed(6));
 * // 2.000000 1.000000
 * ```
 */
export class LinearRegression extends LinearModel<LinearFit> implements TensorEstimator {
  readonly l2: number;
  readonly precision: Precision;
  readonly backend: BackendChoice | undefined;

  /** @throws {ValueError} if an option is out of range */
  constructor(options: LinearRegressionOptions = {}) {
    super();
    const { l2, precision, backend } = fillOptions('LinearRegression', options, DEFAULTS);
    this.l2 = requirePenalty(l2);
    this.precision = oneOf('precision', precision, PRECISIONS);
    this.backend = backend;
    Object.freeze(this);
  }

  override get fitsTensors(): boolean {
    return this.precision === 'float32';
  }

  protected async solve({ x, y, weights: given }: FitRows, options: FitOptions): Promise<LinearFit> {
    const { weights, mean: unit } = inUnitsOfMean(given);
    const scale = rangeOf(y, weights);
    const targets = y.map((value) => (value - scale.mean) / scale.spread);
    const total = targets.reduce((sum, target, row) => sum + (weights[row] as number) * target * target, 0) / 2;
    const { precision, backend } = this;
    const found = await fitLinearModel(
      { x, targets, weights, precision, backend },
      this.#task(total, unit, options.signal),
    );
    return unscaledFit(found, scale);
  }

  protected override async solveTensors(keep: Keep, { x, y, sampleWeight, signal }: FitSources): Promise<LinearFit> {
    const tf = currentTensorflow();
    const rows = await readTensorFitRows(tf, keep, { x, y, sampleWeight }, 'finite');
    const [count] = rows.x.shape;
    const all = keep(tf.zeros<Rank.R1>([count], 'int32'));
    const sumOf = async (values: Tensor1D): Promise<number> => (await groupSums(tf, keep(values), all, 1))[0] as number;
    const unit = (await sumOf(rows.weights.clone())) / count;
    const weights = keep(rows.weights.div<Tensor1D>(unit));
    const [low, high] = rows.range;
    const middle = low + (high - low) / 2;
    const mean = middle + (await sumOf(tf.tidy(() => rows.y.sub(middle).mul<Tensor1D>(weights)))) / count;
    const scale = checkedScale(mean, Math.max(high - mean, mean - low));
    const targets = keep(tf.tidy(() => rows.y.sub(scale.mean).div<Tensor1D>(scale.spread)));
    const total = (await sumOf(tf.tidy(() => targets.square().mul<Tensor1D>(weights)))) / 2;
    const found = await fitTensorModel(tf, { ...rows, targets, weights }, this.#task(total, unit, signal));
    return unscaledFit(found, scale);
  }

  /**
   * Returns the task for scaled targets and weights in units of their mean.
   * @param total half the weighted sum of squared targets
   */
  #task(total: number, unit: number, signal: AbortSignal | undefined): LinearTask {
    return {
      loss: SQUARED_LOSS,
      l2: this.l2 / unit,
      origin: { intercept: 0, loss: total },
      startFrom: undefined,
      maxIterations: MAX_STEPS,
      minGain: MIN_GAIN * total,
      signal,
    };
  }

  /**
   * Returns the values of {@link LinearRegression.predict} clipped to [0, 1], [rows]. If y is 0 or 1, these values
   * estimate P(y = 1).
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if the number of features differs from the number in `fit`
   */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    return (await this.scores(x)).map(cutToUnit);
  }

  /**
   * Returns the values x b + b0, [rows]. If a threshold is given, returns 1 for values that are at least the threshold
   * and 0 for other values.
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if the number of features differs from the number in `fit`
   */
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('LinearRegression.predict', options, PREDICT_OPTION_NAMES);
    const values = await this.scores(x);
    return options.threshold === undefined ? values : decide(values, options.threshold);
  }

  /**
   * Returns the values or decisions of `predict` as a tensor on the device of X, [rows] float32. Dispose of it after
   * use.
   */
  async predictTensor(x: Tensor2D, options: PredictOptions = {}): Promise<Tensor1D> {
    assertKnownOptions('LinearRegression.predictTensor', options, PREDICT_OPTION_NAMES);
    const values = await this.tensorScores(x);
    return options.threshold === undefined ? values : decideTensor(currentTensorflow(), values, options.threshold);
  }

  clone(): LinearRegression {
    return new LinearRegression(this);
  }

  toJSON(): EstimatorJson {
    return {
      kind: KIND,
      params: { l2: this.l2, precision: this.precision, backend: this.backend ?? null },
      state: this.stored,
    };
  }

  /**
   * Reads the JSON that {@link LinearRegression.toJSON} wrote.
   * @throws {DataValidationError} if the JSON has any other form
   */
  static fromJSON(json: unknown): LinearRegression {
    const { params, state } = readEstimatorJson(json, KIND, { params: PARAMS, state: LINEAR_STATE });
    const backend = (params.backend ?? undefined) as BackendChoice | undefined;
    const model = fromStoredParams(KIND, () => new LinearRegression({ ...params, backend }));
    model.restore(state);
    return model;
  }
}

/** The centre and scale of targets. With float32, targets must be centred and scaled. */
interface TargetScale {
  readonly mean: number;
  readonly spread: number;
}

/** Returns the weighted mean of values and the largest distance from the mean. */
function rangeOf(values: Float64Array, weights: Float64Array): TargetScale {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = values.reduce((sum, value, row) => sum + value * ((weights[row] as number) / total), 0);
  return checkedScale(
    mean,
    values.reduce((largest, value) => Math.max(largest, Math.abs(value - mean)), 0),
  );
}

/** Returns the scale; its spread is 1 if all values are equal. */
function checkedScale(mean: number, spread: number): TargetScale {
  if (!Number.isFinite(mean) || !Number.isFinite(spread)) throw notFinite('The mean of y', { mean, spread });
  return { mean, spread: spread > 0 ? spread : 1 };
}

function unscaledFit(found: FittedLinearModel, { mean, spread }: TargetScale): LinearFit {
  const { iterations, converged } = found;
  const score = assertFiniteScore({
    coefficients: found.coefficients.map((value) => value * spread),
    intercept: found.intercept * spread + mean,
  });
  return Object.freeze({ ...score, iterations, converged, warnings: fitWarnings(found) });
}
