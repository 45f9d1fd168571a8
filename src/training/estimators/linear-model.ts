import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { assertBinary, type FitRows, readFitRows } from '../data/fit-rows.ts';
import type { Matrix, MatrixSource } from '../data/read-matrix.ts';
import { sigmoid } from '../logistic.ts';
import { classTotals } from './class-weight.ts';
import { decide, fittedOr, readPredictRows, weightedRows } from './estimator-rows.ts';
import { FIT_OPTION_NAMES, type FitOptions, PREDICT_OPTION_NAMES, type PredictOptions } from './estimator.ts';
import type { LinearScore } from './fitting/newton.ts';

/**
 * The log odds that a model predicts if all rows have the same class. In float64, the probability of this class is then
 * 1.
 */
export const CERTAIN_LOG_ODDS = 37;

/**
 * Returns the constant model if all rows have the same class; undefined if both classes occur.
 * @param rows rows with a weight above 0
 * @throws {DataValidationError} if a value of y is not 0 or 1
 */
export function oneClassFit({ x, y, weights }: FitRows): LinearFit | undefined {
  assertBinary(y);
  const [zero, one] = classTotals(y, weights);
  if (zero > 0 && one > 0) return undefined;
  const label = one > 0 ? '1' : '0';
  return Object.freeze({
    coefficients: new Float64Array(x.columns),
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
   * Fits the model to rows and replaces the result of an earlier `fit`.
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
    const rows = weightedRows(await readFitRows(x, y, options.sampleWeight));
    options.signal?.throwIfAborted();
    this.#fit = await this.solve(rows, options);
    return this;
  }

  /** Computes the fit on rows with a weight above 0. */
  protected abstract solve(rows: FitRows, options: FitOptions): Fit | Promise<Fit>;

  /** @throws {TrainingError} before `fit` */
  protected get fitted(): Fit {
    return fittedOr(this.#fit, this.constructor.name);
  }

  /** Computes X b + b0 for each row. */
  protected async scores(x: MatrixSource): Promise<Float64Array> {
    const { fitted } = this;
    return linearScores(await readPredictRows(x, fitted.coefficients.length), fitted);
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

/** The base class of classifiers whose log odds are linear in the features. */
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
