import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import {
  type FilledOptions,
  invalidParameter,
  oneOf,
  type OptionNames,
  suggestNames,
} from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { Estimator } from '../estimators/estimator.ts';
import {
  CONSTRAINT_OPTION_NAMES,
  type ConstraintOptions,
  LEARNER_OPTION_NAMES,
  type LearnerOptions,
  parseConstraint,
  refuseOptions,
} from './constraint-options.ts';
import { type ParsedLearner, parseLearner } from './reductions-options.ts';
import { GRID_COMPATS, type GridCompat, multiplierGrid } from './multiplier-grid.ts';
import { nearestPredictor, type Oracle } from './oracle.ts';
import { byName, type Multipliers } from './reduction-fit.ts';
import type { CellProblem, RowProblem } from './reduction-problem.ts';

/** Options of {@link GridSearchReduction}. */
export interface GridSearchOptions extends ConstraintOptions, LearnerOptions {
  /**
   * The number of points of the grid. A larger grid contains every smaller grid, so its best point is never worse than
   * the best point of a smaller grid.
   * @defaultValue 10
   */
  readonly gridSize?: number | undefined;
  /**
   * The maximum sum of a point's multipliers, at most 1e100.
   * @defaultValue 2
   */
  readonly gridLimit?: number | undefined;
  /**
   * Specifies your own points instead of a lattice. Each point contains multipliers by name, for example { 'all/A/+':
   * 0.5 }. The multiplier of an omitted name is 0.
   * @defaultValue a lattice of gridSize points
   */
  readonly grid?: readonly Multipliers[] | undefined;
  /**
   * The library whose grid is reproduced for the same `gridSize` and `gridLimit`. The library's grids do not contain
   * smaller grids, and they depend on the order of rows.
   * @defaultValue none
   */
  readonly compat?: GridCompat | undefined;
  /**
   * The weight w of the largest violation, in [0, 1]. The best point minimises (1 - w) error + w (largest violation).
   * @defaultValue 0.5
   */
  readonly constraintWeight?: number | undefined;
}

/** Lists the options of {@link GridSearchOptions}. */
export const GRID_SEARCH_OPTION_NAMES: OptionNames<GridSearchOptions> = {
  ...CONSTRAINT_OPTION_NAMES,
  ...LEARNER_OPTION_NAMES,
  gridSize: true,
  gridLimit: true,
  grid: true,
  constraintWeight: true,
  compat: true,
};

/** Options that only `ReductionsWrapper` supports. */
const OF_THE_WRAPPER = 'ratioBoundSlack differenceBound upperBound bound eps T nu eta0 seed randomization'.split(' ');

/** The maximum of `gridLimit`. With larger limits, sums of multipliers times weights may overflow. */
const LARGEST_LIMIT = 1e100;

/** {@link GridSearchOptions} with defaults filled in. */
export type GridSearchSettings = ParsedLearner &
  Pick<
    FilledOptions<GridSearchOptions, 'grid' | 'compat'>,
    'gridSize' | 'gridLimit' | 'grid' | 'compat' | 'constraintWeight'
  >;

/**
 * Checks options and fills in defaults.
 * @throws {ValueError} if a name is unknown, if a value is out of range, or if an option belongs to another constraint
 */
export function parseGridSearch(options: GridSearchOptions): GridSearchSettings {
  refuseOptions(options, 'of a grid search, which does not enforce a bound', OF_THE_WRAPPER);
  const learner = parseLearner(options, parseConstraint(options, 0));
  const gridSize = requireInteger('gridSize', options.gridSize ?? 10, 1);
  const gridLimit = options.gridLimit ?? 2;
  if (!(Number.isFinite(gridLimit) && gridLimit > 0 && gridLimit <= LARGEST_LIMIT)) {
    throw invalidParameter('gridLimit', `be above 0 and at most ${String(LARGEST_LIMIT)}`, gridLimit);
  }
  const constraintWeight = options.constraintWeight ?? 0.5;
  if (!(Number.isFinite(constraintWeight) && constraintWeight >= 0 && constraintWeight <= 1)) {
    throw invalidParameter('constraintWeight', 'lie in [0, 1]', constraintWeight);
  }
  const grid = options.grid === undefined ? undefined : parseGrid(options.grid);
  const compat = options.compat === undefined ? undefined : oneOf('compat', options.compat, GRID_COMPATS);
  if (compat !== undefined && grid !== undefined) {
    throw invalidParameter('compat', 'be left out if grid gives the points', compat);
  }
  return Object.freeze({ ...learner, gridSize, gridLimit, grid, compat, constraintWeight });
}

/** Copies the points. The names of the multipliers are later checked against the data. */
function parseGrid(grid: readonly Multipliers[]): readonly Multipliers[] {
  const isList = Array.isArray(grid) && grid.length > 0;
  if (isList && grid.every((point: unknown) => typeof point === 'object' && point !== null)) {
    return Object.freeze(grid.map((point) => Object.freeze({ ...point })));
  }
  throw invalidParameter('grid', 'have at least one point, each with multipliers by name', JSON.stringify(grid));
}

/** The predictor of one point of a grid. */
interface GridPoint {
  readonly predictor: Estimator;
  readonly multipliers: Float64Array;
  /** The objective of the predictor on the training rows. */
  readonly error: number;
  /** The largest left side of a constraint on the training rows. */
  readonly violation: number;
}

/** The result of a grid search. All lists have one entry per point. */
export interface GridSearchFit {
  readonly predictors: readonly Estimator[];
  readonly lambdas: readonly Multipliers[];
  /** The objective of each point on the training rows: the mean cost of wrong decisions, or the mean loss. */
  readonly errors: readonly number[];
  /**
   * The largest violation of each point on the training rows: the largest difference between a group and the overall
   * rate, or the largest mean loss of a group.
   */
  readonly violations: readonly number[];
  /** The index of the best point. */
  readonly bestIndex: number;
  /** Messages about groups that the constraint does not cover, and about coarse grids. */
  readonly warnings: readonly string[];
}

/** Returns the points as frozen plain data, with the index of the best point. */
function gridSearchFit(
  problem: CellProblem,
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
    bestIndex: costs.indexOf(costs.reduce((min, cost) => Math.min(min, cost), Infinity)),
    warnings: Object.freeze([...warnings]),
  });
}

/**
 * The maximum number of axes. With more axes, a lattice of any feasible size leaves nearly all directions unexplored.
 */
const MAX_AXES = 500;

/** If a lattice has more than this number of axes, it is coarse, and a warning reports the number of axes. */
const FINE_AXES = 4;

/**
 * Calls the oracle at every point of a grid and selects the point that minimises (1 - w) error + w largest violation.
 * If several points are equally good, the first point is selected.
 */
export async function searchGrid<Rows, Predictions>(
  problem: RowProblem<Rows, Predictions>,
  oracle: Oracle<Rows, Predictions>,
  settings: GridSearchSettings,
  onProgress: OnProgress | undefined,
): Promise<GridSearchFit> {
  const grid = settings.grid?.map((point) => readPoint(problem, point)) ?? lattice(problem, settings);
  const points: GridPoint[] = [];
  const learned: GridPoint[] = [];
  for (const [done, multipliers] of grid.entries()) {
    const rows = problem.respond(multipliers, !problem.spansObjective);
    const startFrom = nearestPredictor(learned, multipliers);
    const { predictor, predictions, isConstant, release } = await oracle(rows, startFrom);
    const { error, gamma } = await Promise.resolve(problem.evaluate(predictions)).finally(() => release?.());
    const violation = gamma.reduce((a, b) => Math.max(a, b), -Infinity);
    const point = { predictor, multipliers, error, violation };
    points.push(point);
    if (!isConstant) learned.push(point);
    onProgress?.({ stage: 'grid search', done: done + 1, total: grid.length });
  }
  return gridSearchFit(problem, points, settings.constraintWeight, warningsFor(problem, settings));
}

function lattice(
  problem: CellProblem,
  { gridSize: size, gridLimit: limit, compat }: GridSearchSettings,
): Float64Array[] {
  const { gridAxes, bounds, spansObjective } = problem;
  if (gridAxes.length > 0 && gridAxes.length <= MAX_AXES) {
    return multiplierGrid(gridAxes, bounds.length, { size, limit, onSimplex: spansObjective, compat });
  }
  throw new DataValidationError(
    gridAxes.length === 0
      ? 'No event of the constraint has two groups, so there is nothing to search.'
      : `A grid over ${String(gridAxes.length)} groups and events cannot be searched.`,
    {
      code: 'too-few-groups',
      context: { argument: 'sensitive', axes: gridAxes.length },
      suggestion:
        gridAxes.length === 0
          ? 'Check the labels and the column of groups.'
          : 'Use ReductionsWrapper, or specify the points as grid.',
    },
  );
}

function readPoint({ multiplierNames }: CellProblem, point: Multipliers): Float64Array {
  const known = new Set(multiplierNames);
  for (const [name, value] of Object.entries(point)) {
    if (!known.has(name)) {
      throw new ValueError(`The grid parameter names '${name}', which is not a multiplier of this constraint.`, {
        context: { parameter: 'grid', name, known: multiplierNames.slice(0, 20) },
        suggestion: suggestNames(name, multiplierNames, 'multipliers'),
      });
    }
    if (Number.isFinite(value) && value >= 0) continue;
    throw new ValueError(
      `The grid parameter must hold numbers of 0 or more. Got ${String(value)} for '${name}' instead.`,
      {
        context: { parameter: 'grid', name, value },
      },
    );
  }
  return Float64Array.from(multiplierNames, (name) => point[name] ?? 0);
}

function warningsFor({ gridAxes, warnings }: CellProblem, { grid }: GridSearchSettings): readonly string[] {
  if (grid !== undefined || gridAxes.length <= FINE_AXES) return warnings;
  return [
    ...warnings,
    `the grid has ${String(gridAxes.length)} dimensions, so a few points cover it only coarsely; ReductionsWrapper searches all dimensions`,
  ];
}
