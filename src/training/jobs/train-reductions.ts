import { fillOptions, oneOf, snakeFields } from '../../internal/arguments.ts';
import { type BackendChoice, loadTensorflow } from '../../tensor/index.ts';
import { encodedMatrix, type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import type { TrainingRows, TrainingSource } from '../data/training-data.ts';
import { type EstimatorSource, toEstimator } from '../estimators/adapt-estimator.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { describeModel } from '../models/describe-model.ts';
import { REDUCTION_CONSTRAINTS } from '../reductions/constraint-names.ts';
import type { ReductionsOptions } from '../reductions/reductions-options.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { fitJob, type JobDecisions, prepareJob } from './fit-job.ts';
import { checkJobOptions, type FilledJobOptions, JOB_DEFAULTS, type TrainingJobOptions } from './job-options.ts';
import { describeRows, jobToJson, saveJob, type TrainingJobResult } from './job-result.ts';

/** Options that a job passes on to the reduction. */
type PassedOptions = Pick<
  ReductionsOptions,
  'constraint' | 'eps' | 'differenceBound' | 'ratioBound' | 'ratioBoundSlack' | 'upperBound' | 'bound' | 'T' | 'nu'
>;

/** Options of {@link trainReductions}: the options of a training job and the options of `ReductionsWrapper`. */
export interface TrainReductionsOptions extends TrainingJobOptions, PassedOptions {
  /**
   * The estimator that is trained with and without the constraint.
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
 * Trains on a table under a fairness constraint with the exponentiated gradient reduction. Reports accuracy and gaps on
 * held-out rows and on training rows, for the constrained model and for the same estimator without the constraint.
 *
 * The rows are split by target and group (80/20 by default), or cross-fitted with `folds`. The encoding of features is
 * learned from the training rows only: numbers are standardised, text is one-hot encoded, and missing values are
 * marked. Sensitive columns are never used as features. `final` is the exact expectation over the model's
 * randomisation. `bounded_group_loss` bounds each group's error rate by `upperBound`.
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
  source: TrainingSource,
  options: TrainReductionsOptions = {},
): Promise<ReductionsJobResult> {
  const filled = fillOptions('trainReductions', options, DEFAULTS);
  checkJobOptions(filled);
  const estimator = toEstimator(filled.estimator ?? new LogisticRegression({ backend: filled.backend }));
  const wrapper = createWrapper(filled, estimator, filled.seed);
  const rows = await prepareJob(source, filled);
  const { backend } = await loadTensorflow({ backend: filled.backend });
  const { signal } = filled;
  const { kept, judged, warnings } = await fitJob(rows, filled, async (train, onProgress) => {
    const { specs, warnings: notes } = fitFeatures(train.table, rows.training.features);
    const x = encodedMatrix(train.table, specs);
    const baseline = await estimator.clone().fit(x, train.y, { signal });
    await wrapper.fit(x, train.y, { sensitive: train.groups, signal, onProgress });
    // The search may end before the maximum number of iterations, so completion is reported here.
    onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
    return {
      specs,
      warnings: [...notes, ...fitWarnings(baseline), ...wrapper.result.warnings],
      decide: async (asked: TrainingRows): Promise<JobDecisions> => {
        const matrix = encodedMatrix(asked.table, specs);
        return {
          baseline: await baseline.predict(matrix, { threshold: 0.5 }),
          final: await wrapper.predictProba(matrix),
        };
      },
    };
  });

  const { result } = wrapper;
  const best = result.history[result.bestIteration];
  const found: ReductionsJobResult = Object.freeze({
    ...judged,
    ...describeRows(rows),
    constraint: Object.freeze({ ...describeModel(wrapper).constraint }),
    seed: filled.seed,
    backend,
    warnings: Object.freeze([...warnings, ...rows.warnings]),
    model: wrapper,
    features: kept.specs,
    oracleCalls: result.oracleCalls,
    bestGap: result.bestGap,
    iterations: result.lastIteration + 1,
    predictors: result.weights.filter((weight) => weight > 0).length,
    violation: best?.violation ?? NaN,
  });
  await saveJob(wrapper, found, rows, filled, { features: kept.specs, backend });
  return found;
}

function createWrapper(
  { constraint: given, eps, differenceBound, ratioBound, ratioBoundSlack, upperBound, bound, T, nu }: PassedOptions,
  estimator: Estimator,
  seed: number,
): ReductionsWrapper {
  const constraint = oneOf('constraint', given ?? 'demographic_parity', REDUCTION_CONSTRAINTS);
  return new ReductionsWrapper({
    estimator,
    constraint,
    // A job evaluates decisions, so the loss must be the zero-one loss.
    ...(constraint === 'bounded_group_loss' ? { loss: 'zero_one' } : {}),
    ...{ eps, differenceBound, ratioBound, ratioBoundSlack, upperBound, bound, T, nu, seed },
  });
}

function fitWarnings(baseline: Estimator): string[] {
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
