import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { assertKnownOptions } from '../../internal/arguments.ts';
import { type Keep, withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { type ColumnSource, isDeviceTensor, type TensorLike } from '../../table/index.ts';
import { currentTensorflow } from '../../tensor/index.ts';
import { type FitRows, readFitRows } from '../data/fit-rows.ts';
import type { Matrix, MatrixSource } from '../data/read-matrix.ts';
import { CERTAIN_LOG_ODDS, logit, sigmoid } from '../logistic.ts';
import { decide, decideTensor, fittedOr, readPredictRows, readPredictTensor, weightedRows } from './estimator-rows.ts';
import { FIT_OPTION_NAMES, type FitOptions, PREDICT_OPTION_NAMES, type PredictOptions } from './estimator.ts';
import type { LinearScore } from './fitting/column-scales.ts';
import { tensorScores } from './fitting/tensor-design.ts';

/**
 * Returns the constant model if all rows have the same class; undefined if both classes occur.
 * @param columns the number of features
 * @param totals the sums of weights of class 0 and class 1
 */
export function oneClassFit(columns: number, [zero, one]: readonly [number, number]): LinearFit | undefined {
  if (zero > 0 && one > 0) return undefined;
  const label = one > 0 ? '1' : '0';
  return Object.freeze({
    coefficients: new Float64Array(columns),
    intercept: one > 0 ? CERTAIN_LOG_ODDS : -CERTAIN_LOG_ODDS,
    iterations: 0,
    converged: true,
    warnings: Object.freeze([`y is ${label} in every row, so the model always predicts ${label}`]),
  });
}

/** The fitted state of an estimator with linear scores. */
export interface LinearFit extends LinearScore {
  readonly iterations: number;
  readonly converged: boolean;
  readonly warnings: readonly string[];
}

/** The JSON form of a fit. */
type StoredFit<Fit extends LinearFit> = Omit<Fit, 'coefficients'> & { readonly coefficients: number[] };

/** The base class of estimators with linear scores. It stores, exposes and serialises the fitted state. */
export abstract class LinearModel<Fit extends LinearFit> {
  #fit: Fit | undefined;

  /** The coefficients b, one per feature. */
  get coefficients(): Float64Array {
    return this.fitted.coefficients.slice();
  }

  /** The intercept b0. */
  get intercept(): number {
    return this.fitted.intercept;
  }

  /**
   * The number of steps taken. If the normal equations are solved directly, the solution and each refinement count as
   * one step each.
   */
  get iterations(): number {
    return this.fitted.iterations;
  }

  /** Whether the fit converged, which means that the last step had a negligible effect. */
  get converged(): boolean {
    return this.fitted.converged;
  }

  /** Warnings of the fit, as full sentences. */
  get warnings(): readonly string[] {
    return this.fitted.warnings;
  }

  /**
   * Fits the model to rows and replaces the result of an earlier `fit`. If X is a tensor and `fitsTensors` is true, rows
   * stay on the device of X.
   * @param x [rows, features], finite
   * @param y [rows], 0 or 1 for a classifier; finite for `LinearRegression`
   * @param options weights, a signal and `startFrom`. The signal cannot interrupt the descent of
   *   `MlLogisticRegression`. `LogisticRegression` can start from a fitted `LogisticRegression` with the same number of
   *   features; other estimators ignore this option.
   * @throws {DataValidationError} if the rows are invalid
   * @throws {TrainingError} if the resulting coefficients are not finite, for example because the squares of very large
   *   or very small values are out of range
   */
  async fit(x: MatrixSource, y: ColumnSource, options: FitOptions = {}): Promise<this> {
    assertKnownOptions(`${this.constructor.name}.fit`, options, FIT_OPTION_NAMES);
    this.#fit = undefined;
    this.#fit = await (this.fitsTensors && isDeviceTensor(x)
      ? withTensors(currentTensorflow(), (keep) => this.solveTensors?.(keep, { x, y, ...options }) as Promise<Fit>)
      : this.#solveOnHost(x, y, options));
    return this;
  }

  /** Whether `fit` leaves tensors on their device. Otherwise, it reads tensors once and computes on the host. */
  get fitsTensors(): boolean {
    return false;
  }

  /** Computes the fit on rows with a weight above 0. */
  protected abstract solve(rows: FitRows, options: FitOptions): Fit | Promise<Fit>;

  /** Computes the fit on tensors. This method is required if `fitsTensors` is true. */
  protected solveTensors?(keep: Keep, rows: FitSources): Promise<Fit>;

  async #solveOnHost(x: MatrixSource, y: ColumnSource, options: FitOptions): Promise<Fit> {
    const rows = weightedRows(await readFitRows(x, y, options.sampleWeight));
    options.signal?.throwIfAborted();
    return this.solve(rows, options);
  }

  /** @throws {TrainingError} before `fit` */
  protected get fitted(): Fit {
    return fittedOr(this.#fit, this.constructor.name);
  }

  /** Computes X b + b0 for each row. If X is a tensor, its rows stay on their device, and only the scores are read. */
  protected async scores(x: MatrixSource): Promise<Float64Array> {
    const { fitted } = this;
    if (!isDeviceTensor(x)) return linearScores(await readPredictRows(x, fitted.coefficients.length), fitted);
    const scores = await this.tensorScores(x);
    try {
      return Float64Array.from(await scores.data());
    } finally {
      scores.dispose();
    }
  }

  /** Computes X b + b0 for each row of a tensor, [rows] float32, on its device. */
  protected tensorScores(x: TensorLike): Promise<Tensor1D> {
    const tf = currentTensorflow();
    const { fitted } = this;
    return withTensors(tf, async (keep) =>
      tensorScores(tf, await readPredictTensor(tf, keep, x, fitted.coefficients.length), fitted),
    );
  }

  /** The fitted state in JSON form; null before `fit`. */
  protected get stored(): StoredFit<Fit> | null {
    return this.#fit === undefined ? null : { ...this.#fit, coefficients: [...this.#fit.coefficients] };
  }

  /** Restores the state that `stored` returned. */
  protected restore(stored: StoredFit<Fit> | null): void {
    if (stored === null) return;
    const fit: unknown = { ...stored, coefficients: Float64Array.from(stored.coefficients) };
    this.#fit = Object.freeze(fit as Fit);
  }
}

/** The arguments of `fit`. */
export interface FitSources extends FitOptions {
  readonly x: TensorLike;
  readonly y: ColumnSource;
}

/** The shared base class of classifiers with linear log odds. */
export abstract class LinearClassifier<Fit extends LinearFit> extends LinearModel<Fit> {
  /**
   * Returns P(y = 1) of each row, [rows], computed in float64 on the host.
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if the number of features differs from the number in `fit`
   */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    return sigmoids(await this.scores(x));
  }

  /**
   * Returns 1 for rows whose P(y = 1) is at least the threshold, and 0 for other rows: [rows].
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if the number of features differs from the number in `fit`
   */
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array> {
    assertKnownOptions(`${this.constructor.name}.predict`, options, PREDICT_OPTION_NAMES);
    return decide(await this.predictProba(x), options.threshold ?? 0.5);
  }

  /** Returns the decisions of `predict` as a tensor on the device of X, [rows] float32. Dispose of it after use. */
  async predictTensor(x: Tensor2D, options: PredictOptions = {}): Promise<Tensor1D> {
    assertKnownOptions(`${this.constructor.name}.predictTensor`, options, PREDICT_OPTION_NAMES);
    return decideTensor(currentTensorflow(), await this.tensorScores(x), logit(options.threshold ?? 0.5));
  }
}

/** Computes X b + b0 for each row, in float64. */
export function linearScores(
  { rows, columns, values }: Matrix,
  { coefficients, intercept }: LinearScore,
): Float64Array {
  const scores = new Float64Array(rows);
  for (let row = 0, index = 0; row < rows; row++) {
    let sum = intercept;
    for (let column = 0; column < columns; column++, index++) {
      sum += (values[index] as number) * (coefficients[column] as number);
    }
    scores[row] = sum;
  }
  return scores;
}

/** Computes 1 / (1 + exp(-z)) of each score. */
export function sigmoids(scores: Float64Array): Float64Array {
  return scores.map(sigmoid);
}
