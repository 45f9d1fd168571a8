import { fillOptions, oneOf, snakeFields } from '../../internal/arguments.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { isStreamSource, type StreamTrainingSource } from '../data/stream-training.ts';
import type { TrainingSource } from '../data/training-data.ts';
import { type EstimatorSource, toEstimator } from '../estimators/adapt-estimator.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { describeModel } from '../models/describe-model.ts';
import { REDUCTION_CONSTRAINTS } from '../reductions/constraint-names.ts';
import { parseReductions, type ReductionsOptions } from '../reductions/reductions-options.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { checkJobOptions, type FilledJobOptions, JOB_DEFAULTS, type TrainingJobOptions } from './job-options.ts';
import { constantModelWarnings } from '../decision-quality.ts';
import { jobToJson, saveJob, type TrainingJobResult } from './job-result.ts';
import { reduceStream } from './reduce-stream.ts';
import { reduceTables } from './reduce-tables.ts';

/** Options that a job passes on to the reduction. */
type PassedOptions = Pick<
  ReductionsOptions,
  'constraint' | 'eps' | 'differenceBound' | 'ratioBound' | 'ratioBoundSlack' | 'upperBound' | 'bound' | 'T' | 'nu'
>;

/** Options of {@link trainReductions}: the options of a training job and the options of `ReductionsWrapper`. */
export interface TrainReductionsOptions extends TrainingJobOptions, PassedOptions {
  /**
   * The estimator that is trained with and without the constraint. A stream of rows needs a `LogisticRegression`.
   * @defaultValue new LogisticRegression()
   */
  readonly estimator?: EstimatorSource | undefined;
  /**
   * The backend on which tensors are computed.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const DEFAULTS: FilledJobOptions & Omit<TrainReductionsOptions, keyof FilledJobOptions> = {
  ...JOB_DEFAULTS,
  estimator: undefined,
  backend: undefined,
  constraint: 'demographic_parity',
  eps: undefined,
  differenceBound: undefined,
  ratioBound: undefined,
  ratioBoundSlack: undefined,
  upperBound: undefined,
  bound: undefined,
  T: undefined,
  nu: undefined,
};

/** The result of {@link trainReductions}. */
export interface ReductionsJobResult extends TrainingJobResult {
  /** The fitted reduction, whose methods take encoded features. */
  readonly model: ReductionsWrapper;
  /** The encoding of columns as the model's inputs. */
  readonly features: readonly FeatureSpec[];
  /** The number of times the estimator was fitted. */
  readonly oracleCalls: number;
  /** The duality gap of the solution. */
  readonly bestGap: number;
  readonly iterations: number;
  /** The number of predictors in the mixture with a probability above 0. */
  readonly predictors: number;
  /** The largest left side of a constraint on the training rows, in expectation over the model's randomisation. */
  readonly violation: number;
}

/**
 * Trains on rows under a fairness constraint with the exponentiated gradient reduction. Reports accuracy and gaps on
 * held-out rows and on training rows, for the constrained model and for the same estimator without the constraint.
 *
 * The rows are split by target and group (80/20 by default), or cross-fitted with `folds`. The encoding of features is
 * learned from the training rows only: numbers are standardised, text is one-hot encoded, and missing values are
 * marked. Sensitive columns are never used as features. `final` is the exact expectation over the model's
 * randomisation. `bounded_group_loss` bounds each group's error rate by `upperBound`.
 *
 * If the source has `source` instead of `table`, rows are read as a stream into a temporary file, and the models are
 * fitted block by block, so that memory does not grow with the number of rows. Each row is then held out by itself. The
 * estimator must be a `LogisticRegression`, which is fitted in float64 for any `precision`, and `folds` is an error.
 *
 * The constraint holds in expectation on the training rows and reduces accuracy. On other rows the gap may be larger.
 * @throws {DataValidationError} if a column is unknown, the target does not have two values, there is only one group,
 *   or there are too few rows
 * @throws {ValueError} if a value is out of range or a name is unknown
 * @throws {TrainingError} if the estimator fails
 * @example
 * ```ts
 * import { sampleData } from 'evenhand';
 * import { trainReductions } from 'evenhand/training';
 *
 * const { final, train } = await trainReductions(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education', 'experience'] },
 *   { constraint: 'demographic_parity', eps: 0.01, backend: 'wasm' },
 * );
 * console.log(final.n, train.final.dpDiff < train.baseline.dpDiff);
 * // 107 true
 * ```
 */
export async function trainReductions(
  source: TrainingSource | StreamTrainingSource,
  options: TrainReductionsOptions = {},
): Promise<ReductionsJobResult> {
  const filled = fillOptions('trainReductions', options, DEFAULTS);
  checkJobOptions(filled);
  const estimator = toEstimator(filled.estimator ?? new LogisticRegression({ backend: filled.backend }));
  const models = {
    ...{ estimator, notesOf: baselineWarnings, backend: filled.backend },
    options: reductionOptions(filled, estimator, filled.seed),
  };
  // Checks the options before any row is read.
  parseReductions(models.options);
  const { wrapper, specs, judged, described, warnings, backend } = isStreamSource(source)
    ? await reduceStream(source, models, filled)
    : await reduceTables(source, models, filled);
  const { result } = wrapper;
  const best = result.history[result.bestIteration];
  const found: ReductionsJobResult = Object.freeze({
    ...judged,
    ...described,
    constraint: Object.freeze({ ...describeModel(wrapper).constraint }),
    seed: filled.seed,
    backend,
    warnings: Object.freeze([...constantModelWarnings(judged), ...warnings]),
    model: wrapper,
    features: specs,
    oracleCalls: result.oracleCalls,
    bestGap: result.bestGap,
    iterations: result.lastIteration + 1,
    predictors: result.weights.filter((weight) => weight > 0).length,
    violation: best?.violation ?? NaN,
  });
  await saveJob(wrapper, found, described, filled, { features: specs, backend });
  return found;
}

function reductionOptions(
  { constraint: given, eps, differenceBound, ratioBound, ratioBoundSlack, upperBound, bound, T, nu }: PassedOptions,
  estimator: Estimator,
  seed: number,
): ReductionsOptions {
  const constraint = oneOf('constraint', given ?? 'demographic_parity', REDUCTION_CONSTRAINTS);
  return {
    estimator,
    constraint,
    // A job evaluates decisions, so the loss must be the zero-one loss.
    ...(constraint === 'bounded_group_loss' ? { loss: 'zero_one' } : {}),
    ...{ eps, differenceBound, ratioBound, ratioBoundSlack, upperBound, bound, T, nu, seed },
  };
}

function baselineWarnings(baseline: Estimator): string[] {
  if (!(baseline instanceof LogisticRegression)) return [];
  return baseline.warnings.map((warning) => `the model without the constraint: ${warning}`);
}

/** Converts the result of `trainReductions` to JSON. */
export function reductionsJobToJson(result: ReductionsJobResult): Record<string, unknown> {
  const { baseline, final, ...rest } = jobToJson(result);
  const { oracleCalls, bestGap, iterations, predictors, violation } = result;
  return {
    baseline,
    final,
    ...snakeFields({ oracleCalls, bestGap, iterations, predictors, violation }),
    ...rest,
  };
}
