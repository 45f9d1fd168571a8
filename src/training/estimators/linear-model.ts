import { assertKnownOptions } from '../../internal/known-options.ts';
import { PREDICT_OPTION_NAMES, type PredictOptions } from './estimator.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { decide, fittedOr, readPredictRows } from './estimator-rows.ts';
import type { LinearScore } from './fitting/fit-linear-model.ts';
import { linearScores, sigmoids } from './linear-score.ts';

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
