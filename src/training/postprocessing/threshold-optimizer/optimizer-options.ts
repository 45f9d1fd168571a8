import { type FilledOptions, fillOptions, invalidParameter, oneOf } from '../../../internal/arguments.ts';
import { TRAINING_DEFAULTS } from '../../../schemas/training-job.ts';
import { requireSeed } from '../../../stats/parameters.ts';
import type { Estimator } from '../../estimators/estimator.ts';
import {
  readConstraint,
  readObjective,
  type ThresholdConstraintName,
  type ThresholdObjectiveName,
} from './constraints.ts';

/** Policies for deciding rows whose group was not in the rows of `fit`. */
export const UNSEEN_GROUPS = ['raise', 'pooled', 'reject'] as const;

/** The maximum number of grid steps. A grid of this size takes 8 MB, or 8 MB per group if there is a tolerance. */
const MAX_STEPS = 1e6;

/** The name of a policy for unseen groups. */
export type UnseenGroupsName = (typeof UNSEEN_GROUPS)[number];

/** Options of {@link ThresholdOptimizer}. */
export interface ThresholdOptimizerOptions {
  /**
   * The constraint, which requires certain rates to be equal in all groups. `demographic_parity` and
   * `selection_rate_parity` are two names of the same constraint.
   * @defaultValue 'demographic_parity'
   */
  readonly constraint?: ThresholdConstraintName | undefined;
  /**
   * The objective to maximise under the constraint. The constraint `equalized_odds` supports only `accuracy_score` and
   * `balanced_accuracy_score`.
   * @defaultValue 'accuracy_score'
   */
  readonly objective?: ThresholdObjectiveName | undefined;
  /**
   * The number of steps of the grid of rates to search, from 1 to 1,000,000. With 1000 steps, the common rate is a
   * multiple of 0.001.
   * @defaultValue 1000
   */
  readonly gridSize?: number | undefined;
  /**
   * Whether the rule of a group may select low scores instead of high scores. This option is useful if the scores of a
   * group are reversed.
   * @defaultValue false
   */
  readonly flip?: boolean | undefined;
  /**
   * The maximum difference between the constrained rates of any two groups, in [0, 1]. For equalized odds, the maximum
   * applies to both rates, and the grid is not used.
   * @defaultValue 0
   */
  readonly tolerance?: number | undefined;
  /**
   * The policy for rows whose group was not in the rows of `fit`. `raise` throws an error. `pooled` applies the
   * threshold that is best for all rows together, without a constraint. `reject` decides 0 and lists these rows.
   * @defaultValue 'raise'
   */
  readonly unseenGroups?: UnseenGroupsName | undefined;
  /**
   * A model that predicts the scores, as probabilities. If an estimator is set, `fit` and the prediction methods take
   * features instead of scores. `fit` fits a copy of the estimator and does not change the given object.
   * @defaultValue none
   */
  readonly estimator?: Estimator | undefined;
  /**
   * Whether `estimator` is already fitted and should be used unchanged.
   * @defaultValue false
   */
  readonly prefit?: boolean | undefined;
  /**
   * The seed for drawing decisions, a whole number.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** {@link ThresholdOptimizerOptions} with defaults filled in. */
export type OptimizerSettings = FilledOptions<ThresholdOptimizerOptions, 'estimator'>;

const DEFAULTS: OptimizerSettings = {
  constraint: 'demographic_parity',
  objective: 'accuracy_score',
  gridSize: 1000,
  flip: false,
  tolerance: 0,
  unseenGroups: 'raise',
  estimator: undefined,
  prefit: false,
  seed: TRAINING_DEFAULTS.seed,
};

/**
 * Fills in defaults and checks the options.
 * @throws {ValueError} if an option is unknown, or if a value is not allowed
 */
export function readOptimizerOptions(options: ThresholdOptimizerOptions): OptimizerSettings {
  const filled = fillOptions('ThresholdOptimizer', options, DEFAULTS);
  const { gridSize, tolerance, estimator, prefit } = filled;
  readObjective(filled.objective, readConstraint(filled.constraint));
  if (!Number.isSafeInteger(gridSize) || gridSize < 1 || gridSize > MAX_STEPS) {
    throw invalidParameter('gridSize', `be a whole number from 1 to ${String(MAX_STEPS)}`, gridSize);
  }
  if (!(tolerance >= 0 && tolerance <= 1)) throw invalidParameter('tolerance', 'be in [0, 1]', tolerance);
  if (prefit && estimator === undefined) throw invalidParameter('prefit', 'be false without an estimator', prefit);
  oneOf('unseenGroups', filled.unseenGroups, UNSEEN_GROUPS);
  requireSeed(filled.seed);
  return filled;
}
