import { z } from 'zod';

import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { assertBinary, type FitRows, readFitRows } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { applyClassWeight, classTotals, type ClassWeight, parseClassWeight } from './class-weight.ts';
import { inUnitsOfMean, weightedRows } from './estimator-rows.ts';
import { fromStoredParams, LINEAR_STATE, readEstimatorJson } from './estimator-state.ts';
import { type Estimator, type EstimatorJson, FIT_OPTION_NAMES, type FitOptions } from './estimator.ts';
import {
  fitLinearModel,
  fitWarnings,
  type LinearScore,
  type Precision,
  PRECISIONS,
} from './fitting/fit-linear-model.ts';
import { LOGISTIC_LOSS } from './fitting/row-loss.ts';
import { CERTAIN_LOG_ODDS, LinearClassifier, type LinearFit, oneClassFit } from './linear-model.ts';

/** Options of {@link LogisticRegression}. */
export interface LogisticRegressionOptions {
  /**
   * The weight of the penalty |b|^2 / 2, 0 or more; scikit-learn's 1 / C. The intercept is not penalised.
   * @defaultValue 1
   */
  readonly l2?: number | undefined;
  /**
   * Factors on the weights of rows by class: 'balanced' gives W / (2 W_c), so that both classes have the same total
   * weight.
   * @defaultValue null
   */
  readonly classWeight?: ClassWeight | undefined;
  /**
   * The maximum number of Newton steps.
   * @defaultValue 100
   */
  readonly maxIterations?: number | undefined;
  /**
   * The first step that lowers the objective by less than this per unit of weight is the last, in nats.
   * @defaultValue 1e-12
   */
  readonly tolerance?: number | undefined;
  /**
   * 'float32' computes the products on tensors. 'float64' computes on the host and does not load TensorFlow.js.
   * @defaultValue 'float32'
   */
  readonly precision?: Precision | undefined;
  /**
   * The backend that computes tensors; matters for 'float32' only.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const LOGISTIC_REGRESSION_OPTION_NAMES: OptionNames<LogisticRegressionOptions> = {
  l2: true,
  classWeight: true,
  maxIterations: true,
  tolerance: true,
  precision: true,
  backend: true,
};

/** The result of a fit. */
interface LogisticFit extends LinearFit {
  readonly deviance: number;
}

const KIND = 'logistic_regression';

const PARAMS = z.object({
  l2: z.number(),
  class_weight: z.union([z.null(), z.literal('balanced'), z.partialRecord(z.enum(['0', '1']), z.number())]),
  max_iterations: z.number(),
  tolerance: z.number(),
  precision: z.enum(PRECISIONS),
  backend: z.nullable(z.string()),
});
const STATE = LINEAR_STATE.extend({ deviance: z.number() });

/**
 * Fits a logistic regression: P(y = 1 | x) = 1 / (1 + exp(-(x b + b0))), with b and b0 that minimise
 *
 *     sum_i w_i log(1 + exp(-s_i (x_i b + b0))) + l2 / 2 |b|^2,  s_i = -1 or 1
 *
 * This is scikit-learn's objective with C = 1 / l2. Weights are not normalised: twice the rows count twice against
 * the penalty. Features need not be standardised, but the penalty applies to coefficients in the original units.
 *
 * The fit uses Newton's method (iteratively reweighted least squares). Each step is halved until it lowers the
 * objective, and takes O(rows features^2). Columns are centred and scaled internally, which affects only the
 * rounding error.
 *
 * Degenerate cases, each reported in `warnings`:
 * - only one class (among rows with a weight): the model is constant, with coefficients 0 and intercept 37 or -37, so
 *   that the probability of that class is 1 in float64;
 * - a constant column: its coefficient is 0;
 * - columns that are collinear up to rounding, with l2 = 0: one of many equally good solutions, of least norm in
 *   scaled columns, or near `startFrom`;
 * - classes that a plane separates, with l2 = 0: the objective has no minimum, and the fit stops when another step
 *   would gain less than `tolerance`.
 * @example
 * ```ts
 * import { LogisticRegression } from 'evenhand/training';
 *
 * const model = new LogisticRegression({ l2: 0, precision: 'float64' });
 * await model.fit([[0], [0], [0], [0], [1], [1], [1], [1]], [1, 0, 0, 0, 1, 1, 1, 0]);
 * const oddsRatio = 3 / 1 / (1 / 3);
 * console.log(model.coefficients[0].toFixed(6), Math.log(oddsRatio).toFixed(6));
 * // 2.197225 2.197225
 * ```
 */
export class LogisticRegression extends LinearClassifier<LogisticFit> implements Estimator {
  readonly l2: number;
  readonly classWeight: ClassWeight;
  readonly maxIterations: number;
  readonly tolerance: number;
  readonly precision: Precision;
  readonly backend: BackendChoice | undefined;

  /** @throws {ValueError} if an option is out of range */
  constructor(options: LogisticRegressionOptions = {}) {
    super();
    assertKnownOptions('LogisticRegression', options, LOGISTIC_REGRESSION_OPTION_NAMES);
    this.l2 = options.l2 ?? 1;
    this.classWeight = parseClassWeight(options.classWeight ?? null);
    this.maxIterations = options.maxIterations ?? 100;
    this.precision = oneOf('precision', options.precision ?? 'float32', PRECISIONS);
    this.tolerance = options.tolerance ?? 1e-12;
    this.backend = options.backend;
    if (!(this.l2 >= 0 && this.l2 < Infinity)) throw invalidParameter('l2', 'be 0 or more', this.l2);
    if (!(Number.isInteger(this.maxIterations) && this.maxIterations > 0)) {
      throw invalidParameter('maxIterations', 'be a whole number above 0', this.maxIterations);
    }
    if (!(this.tolerance > 0 && this.tolerance < Infinity))
      throw invalidParameter('tolerance', 'be above 0', this.tolerance);
    Object.freeze(this);
  }

  /** Twice the weighted log loss of the training rows, including class weights, without the penalty. */
  get deviance(): number {
    return this.fitted.deviance;
  }

  /**
   * Learns from rows, and discards what an earlier `fit` learned.
   * @param x [rows, features], finite
   * @param y [rows], 0 or 1
   * @param options weights; `startFrom`, which is used if it is a fitted LogisticRegression with the same number of
   * features
   * @throws {DataValidationError} if the rows cannot be learned from
   * @throws {TrainingError} if values are so large or small that the objective, or the solution, is not finite
   */
  async fit(x: MatrixSource, y: ColumnSource, options: FitOptions = {}): Promise<this> {
    assertKnownOptions('LogisticRegression.fit', options, FIT_OPTION_NAMES);
    this.keep(undefined);
    const rows = weightedRows(await readFitRows(x, y, options.sampleWeight));
    assertBinary(rows.y);
    options.signal?.throwIfAborted();
    const constant = oneClassFit(rows);
    this.keep(
      constant === undefined
        ? await this.#descend(rows, options)
        : Object.freeze({ ...constant, deviance: certainDeviance(rows.weights) }),
    );
    return this;
  }

  clone(): LogisticRegression {
    return new LogisticRegression(this);
  }

  toJSON(): EstimatorJson {
    const { l2, classWeight, maxIterations, tolerance, precision, backend } = this;
    return {
      kind: KIND,
      params: {
        l2,
        class_weight: classWeight,
        max_iterations: maxIterations,
        tolerance,
        precision,
        backend: backend ?? null,
      },
      state: this.stored,
    };
  }

  /**
   * Reads the estimator that {@link LogisticRegression.toJSON} wrote.
   * @throws {DataValidationError} if the JSON is anything else
   */
  static fromJSON(json: unknown): LogisticRegression {
    const { params, state } = readEstimatorJson(json, KIND, { params: PARAMS, state: STATE });
    const options = {
      l2: params.l2,
      classWeight: params.class_weight,
      maxIterations: params.max_iterations,
      tolerance: params.tolerance,
      precision: params.precision,
      backend: (params.backend ?? undefined) as BackendChoice | undefined,
    };
    const model = fromStoredParams(KIND, () => new LogisticRegression(options));
    model.restore(state);
    return model;
  }

  async #descend(rows: FitRows, { startFrom, signal }: FitOptions): Promise<LogisticFit> {
    const { weights, mean } = inUnitsOfMean(applyClassWeight(this.classWeight, rows.y, rows.weights));
    const found = await fitLinearModel({
      x: rows.x,
      targets: rows.y.map((label) => 2 * label - 1),
      weights,
      loss: LOGISTIC_LOSS,
      l2: this.l2 / mean,
      origin: withoutFeatures(rows.y, weights),
      startFrom: startOf(startFrom, rows.x.columns),
      maxIterations: this.maxIterations,
      minGain: this.tolerance * weights.reduce((sum, weight) => sum + weight, 0),
      precision: this.precision,
      backend: this.backend,
      signal,
    });
    const { coefficients, intercept, loss, iterations, converged } = found;
    const warnings = fitWarnings(found);
    return Object.freeze({ coefficients, intercept, deviance: 2 * loss * mean, iterations, converged, warnings });
  }
}

/** Returns the best intercept without features, which is the log odds, and the loss there. */
function withoutFeatures(y: Float64Array, weights: Float64Array): { intercept: number; loss: number } {
  const [zero, one] = classTotals(y, weights);
  const total = zero + one;
  return { intercept: Math.log(one / zero), loss: -one * Math.log(one / total) - zero * Math.log(zero / total) };
}

/** Returns the coefficients to start from. A start is only a hint, so one that does not fit is ignored. */
function startOf(given: Estimator | undefined, features: number): LinearScore | undefined {
  if (!(given instanceof LogisticRegression) || given.toJSON().state === null) return undefined;
  const { coefficients, intercept } = given;
  return coefficients.length === features ? { coefficients, intercept } : undefined;
}

function certainDeviance(weights: Float64Array): number {
  return 2 * weights.reduce((sum, weight) => sum + weight, 0) * Math.log1p(Math.exp(-CERTAIN_LOG_ODDS));
}
