import { assertKnownOptions } from '../../internal/arguments.ts';
import type { FitRows } from '../data/fit-rows.ts';
import type { Matrix, MatrixSource } from '../data/read-matrix.ts';
import { sigmoid } from '../logistic.ts';
import { classTotals } from './class-weight.ts';
import { decide, fittedOr, readPredictRows } from './estimator-rows.ts';
import { PREDICT_OPTION_NAMES, type PredictOptions } from './estimator.ts';
import type { LinearScore } from './fitting/fit-linear-model.ts';

/** The log odds of a class that is the only one: float64 cannot tell its probability from 1. */
export const CERTAIN_LOG_ODDS = 37;

/**
 * The constant that rows of one class only teach; nothing where there are both.
 * @param rows y 0 or 1; each with a weight
 */
export function oneClassFit({ x, y, weights }: FitRows): LinearFit | undefined {
  const [zero, one] = classTotals(y, weights);
  if (zero > 0 && one > 0) return undefined;
  return Object.freeze({
    coefficients: new Float64Array(x.columns),
    intercept: one > 0 ? CERTAIN_LOG_ODDS : -CERTAIN_LOG_ODDS,
    iterations: 0,
    converged: true,
    warnings: Object.freeze([`y holds ${one > 0 ? '1' : '0'} only, so the model always gives that`]),
  });
}

/** What an estimator with linear scores learned. */
export interface LinearFit extends LinearScore {
  readonly iterations: number;
  readonly converged: boolean;
  readonly warnings: readonly string[];
}

/** A fit as JSON has it. */
type StoredFit<Fit extends LinearFit> = Omit<Fit, 'coefficients'> & { readonly coefficients: number[] };

/** What estimators with linear scores share: what was learned, how it is told, kept and stored. */
export abstract class LinearModel<Fit extends LinearFit> {
  #fit: Fit | undefined;

  /** b, one per feature. */
  get coefficients(): Float64Array {
    return this.fitted.coefficients.slice();
  }

  /** b0 */
  get intercept(): number {
    return this.fitted.intercept;
  }

  /** Steps taken; of equations that are solved, once and once for each refinement. */
  get iterations(): number {
    return this.fitted.iterations;
  }

  /** Whether the last step changed nothing to speak of. */
  get converged(): boolean {
    return this.fitted.converged;
  }

  /** What to know of the fit, in sentences. */
  get warnings(): readonly string[] {
    return this.fitted.warnings;
  }

  /** @throws {TrainingError} before `fit` */
  protected get fitted(): Fit {
    return fittedOr(this.#fit, this.constructor.name);
  }

  /** Takes on what was learned, or forgets it. */
  protected keep(fit: Fit | undefined): void {
    this.#fit = fit;
  }

  /** X b + b0 of each row. */
  protected async scores(x: MatrixSource): Promise<Float64Array> {
    const { fitted } = this;
    return linearScores(await readPredictRows(x, fitted.coefficients.length), fitted);
  }

  /** What was learned, as JSON has it; null before `fit`. */
  protected get stored(): StoredFit<Fit> | null {
    return this.#fit === undefined ? null : { ...this.#fit, coefficients: [...this.#fit.coefficients] };
  }

  /** The inverse of `stored`. */
  protected restore(stored: StoredFit<Fit> | null): void {
    if (stored === null) return;
    const fit: unknown = { ...stored, coefficients: Float64Array.from(stored.coefficients) };
    this.#fit = Object.freeze(fit as Fit);
  }
}

/** What classifiers whose log odds are linear share. */
export abstract class LinearClassifier<Fit extends LinearFit> extends LinearModel<Fit> {
  /**
   * P(y = 1) of each row, [rows], computed in float64 on the host.
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} for another number of features than was fitted
   */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    return sigmoids(await this.scores(x));
  }

  /**
   * 1 where P(y = 1) is at least the threshold, [rows].
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} for another number of features than was fitted
   */
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array> {
    assertKnownOptions(`${this.constructor.name}.predict`, options, PREDICT_OPTION_NAMES);
    return decide(await this.predictProba(x), options.threshold ?? 0.5);
  }
}

/** X b + b0 for each row, in float64. */
export function linearScores(
  { rows, columns, values }: Matrix,
  { coefficients, intercept }: LinearScore,
): Float64Array {
  const scores = new Float64Array(rows);
  for (let row = 0, place = 0; row < rows; row++) {
    let sum = intercept;
    for (let column = 0; column < columns; column++, place++) {
      sum += (values[place] as number) * (coefficients[column] as number);
    }
    scores[row] = sum;
  }
  return scores;
}

/** 1 / (1 + exp(-z)) of each score. */
export function sigmoids(scores: Float64Array): Float64Array {
  return scores.map(sigmoid);
}
