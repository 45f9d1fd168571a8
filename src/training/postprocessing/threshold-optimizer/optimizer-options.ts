import { invalidParameter, oneOf, type OptionNames } from '../../../internal/arguments.ts';
import type { Estimator } from '../../estimators/estimator.ts';
import { readSeed } from '../grouped-scores.ts';
import {
  readConstraint,
  readObjective,
  type ThresholdConstraintName,
  type ThresholdObjectiveName,
} from './constraints.ts';
import type { ThresholdSettings } from './threshold-rules.ts';

/** What becomes of rows whose group was not there in `fit`. */
export const UNSEEN_GROUPS = ['raise', 'pooled', 'reject'] as const;

/** A grid of so many steps takes 8 MB, with a tolerance for each group. */
const MAX_STEPS = 1e6;

/** The name of a way with unseen groups. */
export type UnseenGroupsName = (typeof UNSEEN_GROUPS)[number];

/** Options of {@link ThresholdOptimizer}. */
export interface ThresholdOptimizerOptions {
  /**
   * What is held equal between groups. `demographic_parity` and
   * `selection_rate_parity` are the same.
   * @defaultValue 'demographic_parity'
   */
  readonly constraint?: ThresholdConstraintName | undefined;
  /**
   * What is made as large as the constraint allows; `equalized_odds` takes
   * `accuracy_score` and `balanced_accuracy_score` only.
   * @defaultValue 'accuracy_score'
   */
  readonly objective?: ThresholdObjectiveName | undefined;
  /**
   * Steps of the grid of rates that is searched, from 1 to 1,000,000. With a grid of 1000
   * the common rate is a whole number of thousandths.
   * @defaultValue 1000
   */
  readonly gridSize?: number | undefined;
  /**
   * Whether a group's low scores may be selected instead of its high ones, where
   * the scores run the wrong way there.
   * @defaultValue false
   */
  readonly flip?: boolean | undefined;
  /**
   * How far apart the constrained rates of any two groups may be, in [0, 1]. For
   * equalized odds it bounds both rates, and is solved without the grid.
   * @defaultValue 0
   */
  readonly tolerance?: number | undefined;
  /**
   * What becomes of rows whose group was not there in `fit`: `raise` throws,
   * `pooled` takes the threshold that is best for all rows together (no
   * constraint), `reject` decides 0 and lists the row.
   * @defaultValue 'raise'
   */
  readonly unseenGroups?: UnseenGroupsName | undefined;
  /**
   * A model whose probabilities are the scores; `fit` and the predictions then
   * take its features in place of scores. A copy of it is fitted, not itself.
   * @defaultValue none
   */
  readonly estimator?: Estimator | undefined;
  /**
   * Whether `estimator` is fitted already and stays as it is.
   * @defaultValue false
   */
  readonly prefit?: boolean | undefined;
  /**
   * Seed of drawn decisions, a whole number.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link ThresholdOptimizerOptions}. */
export const THRESHOLD_OPTIMIZER_OPTION_NAMES: OptionNames<ThresholdOptimizerOptions> = {
  constraint: true,
  objective: true,
  gridSize: true,
  flip: true,
  tolerance: true,
  unseenGroups: true,
  estimator: true,
  prefit: true,
  seed: true,
};

/** {@link ThresholdOptimizerOptions}, filled in. */
export interface OptimizerSettings extends ThresholdSettings {
  readonly unseenGroups: UnseenGroupsName;
  readonly estimator: Estimator | undefined;
  readonly prefit: boolean;
  readonly seed: number;
}

/**
 * Fills in what was left out.
 * @throws {ValueError} for an option that is out of range, or a name that is unknown
 */
export function readOptimizerOptions(options: ThresholdOptimizerOptions): OptimizerSettings {
  const constraint = readConstraint(options.constraint ?? 'demographic_parity');
  const { gridSize = 1000, tolerance = 0, estimator, prefit = false } = options;
  if (!Number.isSafeInteger(gridSize) || gridSize < 1 || gridSize > MAX_STEPS) {
    throw invalidParameter('gridSize', `be a whole number from 1 to ${String(MAX_STEPS)}`, gridSize);
  }
  if (!(tolerance >= 0 && tolerance <= 1)) throw invalidParameter('tolerance', 'be in [0, 1]', tolerance);
  if (prefit && estimator === undefined) throw invalidParameter('prefit', 'be false without an estimator', prefit);
  return {
    constraint,
    objective: readObjective(options.objective ?? 'accuracy_score', constraint),
    gridSize,
    flip: options.flip ?? false,
    tolerance,
    unseenGroups: oneOf('unseenGroups', options.unseenGroups ?? 'raise', UNSEEN_GROUPS),
    estimator,
    prefit,
    seed: readSeed(options.seed ?? 42),
  };
}
