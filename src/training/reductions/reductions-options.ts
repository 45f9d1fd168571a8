import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import { TRAINING_DEFAULTS } from '../../schemas/training-job.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { toEstimator } from '../estimators/adapt-estimator.ts';
import { type Estimator, isTensorEstimator, type TensorEstimator } from '../estimators/estimator.ts';
import { type Precision, PRECISIONS } from '../estimators/fitting/fit-linear-model.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import {
  type BoundKind,
  CONSTRAINT_OPTION_NAMES,
  type ConstraintOptions,
  type ConstraintSettings,
  LEARNER_OPTION_NAMES,
  type LearnerOptions,
  parseConstraint,
} from './constraint-options.ts';
import { type Randomization, RANDOMIZATIONS } from './mixture.ts';
import { predictionKind } from './oracle.ts';
import type { ReductionFit } from './reduction-fit.ts';

/** Options of {@link ReductionsWrapper}. */
export interface ReductionsOptions extends ConstraintOptions, LearnerOptions {
  /**
   * The tolerance of the search, at least 1e-12. The multipliers sum to at most 1 / eps, so a smaller eps enforces the
   * constraint more strictly. eps is also the default of `differenceBound` and `upperBound`.
   * @defaultValue 0.01
   */
  readonly eps?: number | undefined;
  /**
   * The largest difference between a group's rate and the overall rate.
   * @defaultValue eps
   */
  readonly differenceBound?: number | undefined;
  /**
   * The amount, as a difference of rates, by which a ratio bound may be exceeded.
   * @defaultValue 0
   */
  readonly ratioBoundSlack?: number | undefined;
  /**
   * The largest mean loss of a group, for `bounded_group_loss`.
   * @defaultValue eps
   */
  readonly upperBound?: number | undefined;
  /**
   * `overall` bounds the difference between every group and the overall rate, so two groups may differ by twice the
   * bound. `pairwise` halves the bound (or takes the square root of a ratio), so that no two groups differ by more than
   * the bound.
   * @defaultValue 'overall'
   */
  readonly bound?: BoundKind | undefined;
  /**
   * The maximum number of iterations.
   * @defaultValue 50
   */
  readonly T?: number | undefined;
  /**
   * The search stops when the duality gap is below this value. The duality gap measures how far the error and the
   * constraint together are from the optimum.
   * @defaultValue half the standard error of the first predictor's error
   */
  readonly nu?: number | undefined;
  /**
   * The initial learning rate of the multipliers, in units of eps.
   * @defaultValue 2
   */
  readonly eta0?: number | undefined;
  /**
   * The seed of `predict`.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  /**
   * How `predict` assigns random numbers to rows. `draw` draws a number for each row of a call, by the row's position.
   * `row` derives the number from a hash of the row's features, so equal rows always get equal predictions, regardless
   * of the other rows.
   * @defaultValue 'draw'
   */
  readonly randomization?: Randomization | undefined;
}

/** Defaults of {@link ReductionsOptions}, without the options of the constraint. */
export const REDUCTIONS_DEFAULTS = {
  eps: 0.01,
  T: 50,
  eta0: 2,
  seed: TRAINING_DEFAULTS.seed,
  randomization: 'draw',
} as const satisfies ReductionsOptions;

/** Lists the options of {@link ReductionsOptions}. */
export const REDUCTIONS_OPTION_NAMES: Readonly<Record<keyof ReductionsOptions, unknown>> = {
  ...CONSTRAINT_OPTION_NAMES,
  ...LEARNER_OPTION_NAMES,
  differenceBound: true,
  ratioBoundSlack: true,
  upperBound: true,
  bound: true,
  nu: true,
  ...REDUCTIONS_DEFAULTS,
};

/**
 * The minimum of eps. If eps is smaller, multipliers are so large that rounding errors dominate the linear programs.
 */
const MIN_EPS = 1e-12;

/** {@link ReductionsOptions} with defaults filled in. */
export interface ReductionsSettings
  extends
    ParsedLearner,
    Pick<FilledOptions<ReductionsOptions, 'nu'>, 'eps' | 'nu' | 'eta0' | 'seed' | 'randomization'> {
  readonly iterations: number;
}

/**
 * Checks options and fills in defaults.
 * @throws {ValueError} if a name is unknown, if a value is out of range, or if an option belongs to another constraint
 */
export function parseReductions(options: ReductionsOptions): ReductionsSettings {
  const eps = options.eps ?? REDUCTIONS_DEFAULTS.eps;
  const eta0 = options.eta0 ?? REDUCTIONS_DEFAULTS.eta0;
  if (!(Number.isFinite(eps) && eps >= MIN_EPS)) {
    throw invalidParameter('eps', `be above 0, ${String(MIN_EPS)} or more`, eps);
  }
  const parsed = parseConstraint(options, eps);
  if (options.nu !== undefined && !(Number.isFinite(options.nu) && options.nu >= 0))
    throw invalidParameter('nu', 'be 0 or more', options.nu);
  if (!(Number.isFinite(eta0) && eta0 > 0)) throw invalidParameter('eta0', 'be above 0', eta0);
  return Object.freeze({
    ...parseLearner(options, parsed),
    eps,
    iterations: requireInteger('T', options.T ?? REDUCTIONS_DEFAULTS.T, 1),
    nu: options.nu,
    eta0,
    seed: parseSeed(options.seed ?? REDUCTIONS_DEFAULTS.seed),
    randomization: oneOf('randomization', options.randomization ?? REDUCTIONS_DEFAULTS.randomization, RANDOMIZATIONS),
  });
}

/** @throws {ValueError} if the seed is not finite */
export function parseSeed(seed: number): number {
  if (Number.isFinite(seed)) return seed;
  throw invalidParameter('seed', 'be a finite number', seed);
}

/** Computes the bound on the left sides of the constraints from the options; undefined if ratios are bounded. */
function boundOf(options: ReductionsOptions): number | undefined {
  const { constraint, eps = REDUCTIONS_DEFAULTS.eps, differenceBound, upperBound, bound, ratioBound } = options;
  if (ratioBound !== undefined) return undefined;
  if (constraint === 'bounded_group_loss') return upperBound ?? eps;
  return (differenceBound ?? eps) / (bound === 'pairwise' ? 2 : 1);
}

/**
 * Returns warnings if the result may not satisfy the constraint, because the search stopped too early or the estimator
 * cannot meet the bound. An excess over the bound of up to eps (1 + 2 gap), where gap is the duality gap, is possible
 * even if the search succeeds, and is not reported.
 */
export function unmetWarnings(fit: ReductionFit, options: ReductionsOptions): string[] {
  const { bestGap, nu, lastIteration, history, bestIteration } = fit;
  const { eps = REDUCTIONS_DEFAULTS.eps, T = REDUCTIONS_DEFAULTS.T } = options;
  const isEarly = bestGap > nu && lastIteration + 1 >= T;
  const [bound, violation] = [boundOf(options), history[bestIteration]?.violation ?? 0];
  const isUnmet = bound !== undefined && violation > bound + eps * (1 + 2 * Math.max(0, bestGap));
  return [
    ...(isEarly
      ? [
          `the search stopped after ${String(T)} iterations at a duality gap of ${bestGap.toPrecision(2)}, above ${nu.toPrecision(2)}: the constraint may not hold, and the error may not be minimal; raise T`,
        ]
      : []),
    ...(isUnmet
      ? [
          `the constraint is not met on the training rows: the violation is ${violation.toPrecision(3)}, but the bound is ${bound.toPrecision(3)}; raise the bound, or use other features`,
        ]
      : []),
  ];
}

/** The learner and the constraint. A class weight of the learner has been moved to the costs of the constraint. */
export interface ParsedLearner {
  /** The estimator that computes on the host. */
  readonly estimator: Estimator;
  /** The estimator that computes on tensors; undefined if the given estimator cannot. */
  readonly tensorEstimator: TensorEstimator | undefined;
  /** Whether no estimator was given. */
  readonly isDefault: boolean;
  readonly precision: Precision | undefined;
  readonly constraint: ConstraintSettings;
}

/**
 * Returns the estimator to clone for every fit. If the estimator has a class weight, this function moves it to the
 * costs of errors. Otherwise, the estimator would apply the class weight to the reduction's labels, which are not the
 * true labels.
 * @throws {ValueError} if both the estimator and the constraint have class weights, or if the class weight of the
 * estimator is combined with a loss or belongs to a custom subclass
 */
export function parseLearner(options: LearnerOptions, constraint: ConstraintSettings): ParsedLearner {
  const precision = options.precision === undefined ? undefined : oneOf('precision', options.precision, PRECISIONS);
  const task = predictionKind(constraint) === 'values' ? 'regression' : 'binary';
  if (options.estimator === undefined) {
    const [estimator, tensorEstimator] = [defaultEstimator(task, 'float64'), defaultEstimator(task, 'float32')];
    return { estimator, tensorEstimator, isDefault: true, precision, constraint };
  }
  const learner = withoutClassWeight(toEstimator(options.estimator, { task }), constraint);
  const { estimator } = learner;
  const tensorEstimator = isTensorEstimator(estimator) && estimator.fitsTensors ? estimator : undefined;
  return { ...learner, tensorEstimator, isDefault: false, precision };
}

/** Moves the class weight of an estimator to the costs of errors. */
function withoutClassWeight(
  estimator: Estimator,
  constraint: ConstraintSettings,
): Pick<ParsedLearner, 'estimator' | 'constraint'> {
  if (!(estimator instanceof LogisticRegression) || estimator.classWeight === null) return { estimator, constraint };
  if (constraint.constraint === 'bounded_group_loss') {
    throw misplaced("does nothing under 'bounded_group_loss', which bounds losses and has no costs of errors");
  }
  if (constraint.classWeight !== null) throw misplaced('and the classWeight parameter must not both be given');
  if (Object.getPrototypeOf(estimator) !== LogisticRegression.prototype) {
    throw misplaced('cannot be moved to the costs of errors, because the estimator is of a custom subclass');
  }
  const { classWeight, ...others } = estimator;
  return { estimator: new LogisticRegression(others), constraint: { ...constraint, classWeight } };
}

function defaultEstimator(task: 'regression' | 'binary', precision: Precision): TensorEstimator {
  return task === 'regression' ? new LinearRegression({ precision }) : new LogisticRegression({ precision });
}

function misplaced(reason: string): ValueError {
  return new ValueError(`The class weight of the estimator ${reason}.`, {
    context: { parameter: 'classWeight' },
    suggestion: 'Remove the class weight from the estimator, and pass it to the reduction as classWeight.',
  });
}
