import type { Tensor1D } from '@tensorflow/tfjs';
import { z } from 'zod';

import {
  camelFields,
  type FilledOptions,
  fillOptions,
  invalidParameter,
  oneOf,
  snakeFields,
} from '../../internal/arguments.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import { type BackendChoice, currentTensorflow, groupSums } from '../../tensor/index.ts';
import { assertBinary, type FitRows } from '../data/fit-rows.ts';
import { readTensorFitRows } from '../data/tensor-fit-rows.ts';
import { applyClassWeight, classFactors, classTotals, type ClassWeight, parseClassWeight } from './class-weight.ts';
import { inUnitsOfMean, requirePenalty } from './estimator-rows.ts';
import { fromStoredParams, LINEAR_STATE, readEstimatorJson } from './estimator-state.ts';
import type { Estimator, EstimatorJson, FitOptions, TensorEstimator } from './estimator.ts';
import { fitLinearModel, fitTensorModel, type Precision, PRECISIONS } from './fitting/fit-linear-model.ts';
import type { LinearScore } from './fitting/column-scales.ts';
import { type FitSources, LinearClassifier, oneClassFit } from './linear-model.ts';
import { certainFit, type LogisticFit, logisticFit, logisticTask } from './logistic-fit.ts';

/** Options of {@link LogisticRegression}. */
export interface LogisticRegressionOptions {
  /**
   * The weight of the penalty |b|^2 / 2, at least 0. This weight equals 1 / C in scikit-learn. The intercept is not
   * penalised.
   * @defaultValue 1
   */
  readonly l2?: number | undefined;
  /**
   * Factors by which the weights of rows are multiplied, by class. 'balanced' uses W / (2 W_c), where W is the sum of
   * all weights and W_c is the sum in class c. Both classes then have the same total weight.
   * @defaultValue null
   */
  readonly classWeight?: ClassWeight | undefined;
  /**
   * The maximum number of Newton steps.
   * @defaultValue 100
   */
  readonly maxIterations?: number | undefined;
  /**
   * The fit ends with the first step that lowers the objective by less than this value per unit of weight, in nats.
   * @defaultValue 1e-12
   */
  readonly tolerance?: number | undefined;
  /**
   * 'float32' computes the products on tensors. 'float64' computes on the host and does not load TensorFlow.js.
   * @defaultValue 'float32'
   */
  readonly precision?: Precision | undefined;
  /**
   * The backend for tensor computations. This option is used only with 'float32'.
   * @defaultValue EVENHAND_TF_BACKEND if set, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const DEFAULTS: FilledOptions<LogisticRegressionOptions, 'backend'> = {
  l2: 1,
  classWeight: null,
  maxIterations: 100,
  tolerance: 1e-12,
  precision: 'float32',
  backend: undefined,
};

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
 * This objective is the same as in scikit-learn with C = 1 / l2. Weights are not normalised: if every row occurs twice,
 * the loss doubles relative to the penalty. Features need not be standardised, but the penalty applies to coefficients
 * in the original units.
 *
 * The fit uses Newton's method (iteratively reweighted least squares). Each step is halved until it lowers the
 * objective, and takes O(rows features^2) time. Columns are centred and scaled internally, which affects only the
 * rounding error.
 *
 * The following degenerate cases are reported in `warnings`:
 * - all rows with a weight above 0 have the same class: the model is constant, with coefficients 0 and intercept 37 or
 *   -37, so that the probability of this class is 1 in float64;
 * - a constant column: its coefficient is 0;
 * - columns that are collinear up to rounding, with l2 = 0: many solutions are equally good, and the fit returns the
 *   solution with the least norm in scaled columns, or a solution near `startFrom`;
 * - classes that a plane separates, with l2 = 0: the objective has no minimum, and the fit stops when another step
 *   would lower the objective by less than `tolerance`.
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
export class LogisticRegression extends LinearClassifier<LogisticFit> implements TensorEstimator {
  readonly l2: number;
  readonly classWeight: ClassWeight;
  readonly maxIterations: number;
  readonly tolerance: number;
  readonly precision: Precision;
  readonly backend: BackendChoice | undefined;

  /** @throws {ValueError} if an option is out of range */
  constructor(options: LogisticRegressionOptions = {}) {
    super();
    const filled = fillOptions('LogisticRegression', options, DEFAULTS);
    this.l2 = requirePenalty(filled.l2);
    this.classWeight = parseClassWeight(filled.classWeight);
    this.maxIterations = filled.maxIterations;
    this.precision = oneOf('precision', filled.precision, PRECISIONS);
    this.tolerance = filled.tolerance;
    this.backend = filled.backend;
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

  clone(): LogisticRegression {
    return new LogisticRegression(this);
  }

  toJSON(): EstimatorJson {
    const { l2, classWeight, maxIterations, tolerance, precision, backend } = this;
    return {
      kind: KIND,
      params: snakeFields({ l2, classWeight, maxIterations, tolerance, precision, backend: backend ?? null }),
      state: this.stored,
    };
  }

  /**
   * Reads the JSON that {@link LogisticRegression.toJSON} wrote.
   * @throws {DataValidationError} if the JSON has any other form
   */
  static fromJSON(json: unknown): LogisticRegression {
    const { params, state } = readEstimatorJson(json, KIND, { params: PARAMS, state: STATE });
    const backend = (params.backend ?? undefined) as BackendChoice | undefined;
    const model = fromStoredParams(KIND, () => new LogisticRegression({ ...camelFields(params), backend }));
    model.restore(state);
    return model;
  }

  override get fitsTensors(): boolean {
    return this.precision === 'float32';
  }

  protected async solve(rows: FitRows, options: FitOptions): Promise<LogisticFit> {
    assertBinary(rows.y);
    const totals = classTotals(rows.y, rows.weights);
    const constant = oneClassFit(rows.x.columns, totals);
    if (constant !== undefined) return certainFit(constant, totals);
    const { weights, mean } = inUnitsOfMean(applyClassWeight(this.classWeight, rows.y, rows.weights));
    const { precision, backend } = this;
    const found = await fitLinearModel(
      { x: rows.x, targets: rows.y.map((label) => 2 * label - 1), weights, precision, backend },
      logisticTask(this, classTotals(rows.y, weights), mean, {
        ...options,
        startFrom: startOf(options.startFrom, rows.x.columns),
      }),
    );
    return logisticFit(found, mean);
  }

  protected override async solveTensors(keep: Keep, { x, y, ...options }: FitSources): Promise<LogisticFit> {
    const tf = currentTensorflow();
    const rows = await readTensorFitRows(tf, keep, { x, y, sampleWeight: options.sampleWeight }, 'binary');
    const [count, columns] = rows.x.shape;
    const codes = keep(rows.y.cast<Tensor1D>('int32'));
    const [zero = 0, one = 0] = await groupSums(tf, rows.weights, codes, 2);
    const constant = oneClassFit(columns, [zero, one]);
    if (constant !== undefined) return certainFit(constant, [zero, one]);
    const [zeroFactor, oneFactor] = classFactors(this.classWeight, [zero, one]);
    const mean = (zero * zeroFactor + one * oneFactor) / count;
    const weights = keep(
      tf.tidy(() => rows.weights.mul<Tensor1D>(rows.y.mul((oneFactor - zeroFactor) / mean).add(zeroFactor / mean))),
    );
    const found = await fitTensorModel(
      tf,
      { ...rows, targets: keep(tf.tidy(() => rows.y.mul(2).sub<Tensor1D>(1))), weights },
      logisticTask(this, [(zero * zeroFactor) / mean, (one * oneFactor) / mean], mean, {
        ...options,
        startFrom: startOf(options.startFrom, columns),
      }),
    );
    return logisticFit(found, mean);
  }
}

/** Returns the initial coefficients. `startFrom` is only a hint, so an estimator that does not match is ignored. */
export function startOf(given: Estimator | undefined, features: number): LinearScore | undefined {
  if (!(given instanceof LogisticRegression) || given.toJSON().state === null) return undefined;
  const { coefficients, intercept } = given;
  return coefficients.length === features ? { coefficients, intercept } : undefined;
}
