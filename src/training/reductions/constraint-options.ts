import { invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { EstimatorSource } from '../estimators/adapt-estimator.ts';
import { type ClassWeight, parseClassWeight } from '../estimators/class-weight.ts';
import type { Precision } from '../estimators/fitting/fit-linear-model.ts';
import {
  GROUP_LOSSES,
  type GroupLossName,
  type LossRange,
  type ParityName,
  REDUCTION_CONSTRAINTS,
  type ReductionConstraint,
} from './constraint-names.ts';
import type { ParityBound } from './parity-constraint.ts';

/** The cost of a wrong decision. */
export interface MisclassificationCosts {
  readonly falsePositive: number;
  readonly falseNegative: number;
}

/** The constraint and the costs of errors. */
export interface ConstraintOptions {
  /**
   * What is compared between groups: selection rates (`demographic_parity`), error rates (`error_rate_parity`), true
   * and false positive rates (`equalized_odds`), or only one of these two rates (`true_positive_rate_parity`,
   * `false_positive_rate_parity`). `bounded_group_loss` instead compares each group's mean loss with one bound.
   * @defaultValue 'demographic_parity'
   */
  readonly constraint?: ReductionConstraint | undefined;
  /**
   * The lower bound of ratios, in (0, 1]. If `ratioBound` is set, ratios are bounded instead of differences. A group's
   * rate must be at least this share of the overall rate, and the overall rate must be at least this share of the
   * group's rate.
   * @defaultValue undefined: differences are bounded instead
   */
  readonly ratioBound?: number | undefined;
  /**
   * The loss of `bounded_group_loss`.
   * @defaultValue 'square'
   */
  readonly loss?: GroupLossName | undefined;
  /**
   * The range to which targets and predictions are clipped before a loss is computed. For `zero_one`, it is always [0,
   * 1].
   * @defaultValue [0, 1]
   */
  readonly range?: LossRange | undefined;
  /**
   * The costs of wrong decisions in the objective.
   * @defaultValue 1 for both kinds of errors
   */
  readonly costs?: MisclassificationCosts | undefined;
  /**
   * Multiplies the cost of an error by the weight of the row's true class. Class weights affect the objective, not the
   * constraint. If the estimator has class weights, the reduction applies them here. The estimator itself cannot apply
   * class weights, because it is fitted to relabelled rows.
   * @defaultValue null, or the estimator's own class weight
   */
  readonly classWeight?: ClassWeight | undefined;
}

/** The learner, and where it computes. */
export interface LearnerOptions {
  /**
   * The learner: an estimator, or any object with `fit(X, y, { sampleWeight })` and `predict(X)`.
   * @defaultValue LogisticRegression, or LinearRegression for a square or absolute loss
   */
  readonly estimator?: EstimatorSource | undefined;
  /**
   * Where the search computes. 'float64' computes on the host; tensors are then read to the host once. 'float32'
   * computes on the device of the tensors; arrays are then uploaded once.
   * @defaultValue 'float32' for tensors; for arrays, the faster one with the default estimator, else 'float64'
   */
  readonly precision?: Precision | undefined;
}

/** Lists the options of {@link LearnerOptions}. */
export const LEARNER_OPTION_NAMES: OptionNames<LearnerOptions> = { estimator: true, precision: true };

/** Lists the options of {@link ConstraintOptions}. */
export const CONSTRAINT_OPTION_NAMES: OptionNames<ConstraintOptions> = {
  constraint: true,
  ratioBound: true,
  loss: true,
  range: true,
  costs: true,
  classWeight: true,
};

/** The names of the kinds of bound. */
const BOUND_KINDS = ['overall', 'pairwise'] as const;

/** Whether a bound applies between each group and the overall rate, or between any two groups. */
export type BoundKind = (typeof BOUND_KINDS)[number];

/** The bounds of the exponentiated gradient. A grid search does not support them. */
export interface BoundOptions {
  readonly ratioBoundSlack?: number | undefined;
  readonly differenceBound?: number | undefined;
  readonly upperBound?: number | undefined;
  readonly bound?: BoundKind | undefined;
}

/** A constraint on decisions, with defaults filled in. */
interface ParitySettings extends ParityBound {
  readonly constraint: ParityName;
  readonly costs: MisclassificationCosts;
  readonly classWeight: ClassWeight;
}

/** A bound on group losses, with defaults filled in. */
interface GroupLossSettings {
  readonly constraint: 'bounded_group_loss';
  readonly loss: GroupLossName;
  readonly range: LossRange;
  readonly upperBound: number;
}

/** {@link ConstraintOptions} and {@link BoundOptions} with defaults filled in. */
export type ConstraintSettings = ParitySettings | GroupLossSettings;

/**
 * Checks the constraint and fills in defaults.
 * @param fallback the default bound
 * @throws {ValueError} if a name is unknown, if a value is out of range, or if an option belongs to another constraint
 */
export function parseConstraint(options: ConstraintOptions & BoundOptions, fallback: number): ConstraintSettings {
  const constraint = oneOf('constraint', options.constraint ?? 'demographic_parity', REDUCTION_CONSTRAINTS);
  const where = `for the constraint '${constraint}'`;
  if (constraint === 'bounded_group_loss') {
    const ofParity = ['ratioBound', 'ratioBoundSlack', 'costs', 'classWeight', 'differenceBound', 'bound'];
    refuseOptions(options, where, ofParity);
    return { constraint, ...parseLoss(options), upperBound: atLeastZero('upperBound', options.upperBound ?? fallback) };
  }
  refuseOptions(options, where, ['loss', 'range', 'upperBound']);
  return {
    constraint,
    ...parseBound(options, fallback),
    costs: parseCosts(options.costs),
    classWeight: parseClassWeight(options.classWeight ?? null),
  };
}

function parseLoss({ loss: given, range }: ConstraintOptions): Pick<GroupLossSettings, 'loss' | 'range'> {
  const loss = oneOf('loss', given ?? 'square', GROUP_LOSSES);
  if (loss === 'zero_one' && range !== undefined) {
    throw invalidParameter(
      'range',
      "be left out for the loss 'zero_one', whose range is [0, 1]",
      JSON.stringify(range),
    );
  }
  const bounds = range ?? [0, 1];
  const [low, high]: LossRange = Array.isArray(bounds) ? bounds : [NaN, NaN];
  if (Number.isFinite(low) && Number.isFinite(high) && low < high) return { loss, range: [low, high] };
  throw invalidParameter('range', 'be [low, high] with low below high, both finite', JSON.stringify(range));
}

/**
 * Converts a bound between any two groups to a bound between each group and the overall rate. If the ratio between each
 * group's rate and the overall rate is at least rho (the smaller rate divided by the larger rate), the ratio between
 * two groups is only at least rho^2. Therefore, sqrt(rho) is used instead of rho, and slack / (1 + sqrt(rho)) instead
 * of the slack. For differences, this halves the bound.
 */
function parseBound(options: ConstraintOptions & BoundOptions, fallback: number): ParityBound {
  const given = boundOf(options, fallback);
  if (oneOf('bound', options.bound ?? 'overall', BOUND_KINDS) === 'overall') return given;
  const ratio = Math.sqrt(given.ratio);
  return { ratio, slack: given.slack / (1 + ratio) };
}

function boundOf(
  { ratioBound, ratioBoundSlack, differenceBound }: ConstraintOptions & BoundOptions,
  fallback: number,
): ParityBound {
  if (ratioBound === undefined) {
    if (ratioBoundSlack !== undefined)
      throw invalidParameter('ratioBoundSlack', 'come with a ratioBound', ratioBoundSlack);
    return { ratio: 1, slack: atLeastZero('differenceBound', differenceBound ?? fallback) };
  }
  if (differenceBound !== undefined) {
    throw invalidParameter('differenceBound', 'be left out if ratioBound is given', differenceBound);
  }
  if (!(Number.isFinite(ratioBound) && ratioBound > 0 && ratioBound <= 1))
    throw invalidParameter('ratioBound', 'be above 0 and at most 1', ratioBound);
  return { ratio: ratioBound, slack: atLeastZero('ratioBoundSlack', ratioBoundSlack ?? 0) };
}

/** The maximum cost. With larger costs, sums of costs times weights and multipliers may overflow. */
const LARGEST_COST = 1e100;

/**
 * Checks costs of errors.
 * @throws {ValueError} if a cost is negative or above 1e100, or if both costs are 0
 */
function parseCosts(given: MisclassificationCosts | undefined): MisclassificationCosts {
  const { falsePositive, falseNegative } = given ?? { falsePositive: 1, falseNegative: 1 };
  if (isCost(falsePositive) && isCost(falseNegative) && falsePositive + falseNegative > 0) {
    return Object.freeze({ falsePositive, falseNegative });
  }
  throw invalidParameter(
    'costs',
    'be { falsePositive, falseNegative }, both from 0 to 1e100 and at least one above 0',
    JSON.stringify(given),
  );
}

/** Returns whether a value is a valid cost. */
export function isCost(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LARGEST_COST;
}

function atLeastZero(parameter: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw invalidParameter(parameter, 'be a number of 0 or more', value);
}

/**
 * Rejects options that would have no effect.
 * @param where the text that follows "must be left out" in the message, for example "for the constraint 'x'"
 * @throws {ValueError} if one of the options is given; the error names the first such option
 */
export function refuseOptions(options: object, where: string, names: readonly string[]): void {
  const values = options as Readonly<Partial<Record<string, unknown>>>;
  const given = names.find((name) => values[name] !== undefined && values[name] !== null);
  if (given === undefined) return;
  throw invalidParameter(given, `be left out ${where}`, JSON.stringify(values[given]));
}

/** Copies checked options, so that later changes to the given objects have no effect. */
export function copyOptions<Options extends ConstraintOptions>(options: Options): Options {
  const { costs, classWeight, range } = options;
  return Object.freeze({
    ...options,
    ...(costs ? { costs: { ...costs } } : {}),
    ...(typeof classWeight === 'object' && classWeight !== null ? { classWeight: { ...classWeight } } : {}),
    ...(range ? { range: [...range] } : {}),
  });
}
