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

/** The maximum number of grid steps. Such a grid takes 8 MB, or 8 MB per group with a tolerance. */
const MAX_STEPS = 1e6;

/** The name of a policy for unseen groups. */
export type UnseenGroupsName = (typeof UNSEEN_GROUPS)[number];

/** Options of {@link ThresholdOptimizer}. */
export interface ThresholdOptimizerOptions {
  /**
   * The constraint, which requires certain rates to be equal in all groups. `demographic_parity` and
   * `selection_rate_parity` are the same.
   * @defaultValue 'demographic_parity'
   */
  readonly constraint?: ThresholdConstraintName | undefined;
  /**
   * The objective to maximise under the constraint; `equalized_odds` supports only `accuracy_score` and
   * `balanced_accuracy_score`.
   * @defaultValue 'accuracy_score'
   */
  readonly objective?: ThresholdObjectiveName | undefined;
  /**
   * The number of steps of the grid of rates to search, from 1 to 1,000,000. With 1000, the common rate is a multiple
   * of 0.001.
   * @defaultValue 1000
   */
  readonly gridSize?: number | undefined;
  /**
   * Whether a group's low scores may be selected instead of its high scores, if the group's scores are reversed.
   * @defaultValue false
   */
  readonly flip?: boolean | undefined;
  /**
   * The maximum difference between the constrained rates of any two groups, in [0, 1]. For equalized odds it applies to
   * both rates, and the grid is not used.
   * @defaultValue 0
   */
  readonly tolerance?: number | undefined;
  /**
   * The policy for rows whose group was not in the rows of `fit`. `raise` throws an error. `pooled` applies the
   * threshold that is best for all rows together, without a constraint. `reject` decides 0 and lists the row.
   * @defaultValue 'raise'
   */
  readonly unseenGroups?: UnseenGroupsName | undefined;
  /**
   * A model that predicts the scores, as probabilities. `fit` and the prediction methods then take features instead of
   * scores. `fit` fits a copy and leaves this object unchanged.
   * @defaultValue none
   */
  readonly estimator?: Estimator | undefined;
  /**
   * Whether `estimator` is already fitted and should be used unchanged.
   * @defaultValue false
   */
  readonly prefit?: boolean | undefined;
  /**
   * The seed of drawn decisions, a whole number.
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
 * @throws {ValueError} if an option is unknown or a value is not allowed
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
