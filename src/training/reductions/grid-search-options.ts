import { invalidParameter } from '../../internal/invalid-parameter.ts';
import type { EstimatorSource } from '../estimators/adapt-estimator.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { type ConstraintOptions, type ConstraintSettings, parseConstraint } from './constraint-options.ts';
import { parseLearner } from './learner.ts';
import type { Multipliers } from './reduction-fit.ts';

/** Options of {@link GridSearchReduction}. */
export interface GridSearchOptions extends ConstraintOptions {
  /**
   * What learns: an estimator, or anything with `fit(X, y, { sampleWeight })` and `predict(X)`.
   * @defaultValue LogisticRegression, or LinearRegression for a square or absolute loss, with precision 'float64'
   */
  readonly estimator?: EstimatorSource | undefined;
  /**
   * How many points the grid has.
   * @defaultValue 10
   */
  readonly gridSize?: number | undefined;
  /**
   * The largest sum of a point's multipliers.
   * @defaultValue 2
   */
  readonly gridLimit?: number | undefined;
  /**
   * The points themselves, in place of a lattice: multipliers by name, such as
   * { 'all/A/+': 0.5 }; names left out are 0.
   * @defaultValue a lattice of gridSize points
   */
  readonly grid?: readonly Multipliers[] | undefined;
  /**
   * The weight of the largest violation against the error in the choice of the best, in [0, 1].
   * @defaultValue 0.5
   */
  readonly constraintWeight?: number | undefined;
}

/** {@link GridSearchOptions} with every default filled in. */
export interface GridSearchSettings {
  readonly estimator: Estimator;
  readonly constraint: ConstraintSettings;
  readonly gridSize: number;
  readonly gridLimit: number;
  readonly grid: readonly Multipliers[] | undefined;
  readonly constraintWeight: number;
}

/**
 * Checks options and fills in their defaults.
 * @throws {ValueError} for unknown names, values out of range, and options of another constraint
 */
export function parseGridSearch(options: GridSearchOptions): GridSearchSettings {
  // A grid has no bound to keep to.
  const { estimator, constraint } = parseLearner(options.estimator, parseConstraint(options, 0));
  const gridSize = options.gridSize ?? 10;
  if (!Number.isInteger(gridSize) || gridSize < 1) {
    throw invalidParameter('gridSize', 'be a whole number of 1 or more', gridSize);
  }
  const gridLimit = options.gridLimit ?? 2;
  if (!(Number.isFinite(gridLimit) && gridLimit > 0)) throw invalidParameter('gridLimit', 'be above 0', gridLimit);
  const constraintWeight = options.constraintWeight ?? 0.5;
  if (!(constraintWeight >= 0 && constraintWeight <= 1)) {
    throw invalidParameter('constraintWeight', 'lie in [0, 1]', constraintWeight);
  }
  if (options.grid?.length === 0) throw invalidParameter('grid', 'have at least one point', '[]');
  return Object.freeze({ estimator, constraint, gridSize, gridLimit, grid: options.grid, constraintWeight });
}
