import type { Estimator } from '../estimators/estimator.ts';
import { byName, type Multipliers } from './reduction-fit.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** The predictor of one point of a grid. */
export interface GridPoint {
  readonly predictor: Estimator;
  readonly multipliers: Float64Array;
  /** The objective on the training rows. */
  readonly error: number;
  /** The largest left side of a constraint on the training rows. */
  readonly violation: number;
}

/** What a grid search learned; all lists have one entry per point. */
export interface GridSearchFit {
  readonly predictors: readonly Estimator[];
  readonly lambdas: readonly Multipliers[];
  /** The objective on the training rows: mean cost of wrong decisions, or mean loss. */
  readonly errors: readonly number[];
  /** How far a group is from the overall at most, or a group's largest mean loss, on the training rows. */
  readonly violations: readonly number[];
  /** The place of the best point. */
  readonly bestIndex: number;
  /** Groups that the constraint could not reach, and grids that are coarse, for people. */
  readonly warnings: readonly string[];
}

/** Points as frozen plain data, with the best among them. */
export function gridSearchFit(
  problem: ReductionProblem,
  points: readonly GridPoint[],
  constraintWeight: number,
  warnings: readonly string[],
): GridSearchFit {
  const costs = points.map(({ error, violation }) => (1 - constraintWeight) * error + constraintWeight * violation);
  return Object.freeze({
    predictors: Object.freeze(points.map(({ predictor }) => predictor)),
    lambdas: Object.freeze(points.map(({ multipliers }) => byName(problem, multipliers))),
    errors: Object.freeze(points.map(({ error }) => error)),
    violations: Object.freeze(points.map(({ violation }) => violation)),
    bestIndex: costs.indexOf(costs.reduce((least, cost) => Math.min(least, cost), Infinity)),
    warnings: Object.freeze([...warnings]),
  });
}
