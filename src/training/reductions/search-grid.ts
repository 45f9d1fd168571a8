import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { type GridPoint, type GridSearchFit, gridSearchFit, type GridSearchSettings } from './grid-search-options.ts';
import { multiplierGrid } from './multiplier-grid.ts';
import { nearestPredictor, type Oracle } from './oracle.ts';
import type { Multipliers } from './reduction-fit.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** The maximum number of axes. With more, a lattice of any feasible size leaves nearly all directions unexplored. */
const MAX_AXES = 500;

/** With more axes than this, a lattice is coarse, and a warning reports it. */
const FINE_AXES = 4;

/**
 * Calls the oracle at every point of a grid and selects the point that minimises (1 - w) error + w largest violation.
 * If points are equally good, the first one is selected.
 */
export async function searchGrid(
  problem: ReductionProblem,
  oracle: Oracle,
  settings: GridSearchSettings,
  onProgress: OnProgress | undefined,
): Promise<GridSearchFit> {
  const grid = settings.grid?.map((point) => readPoint(problem, point)) ?? lattice(problem, settings);
  const points: GridPoint[] = [];
  const learned: GridPoint[] = [];
  for (const [done, multipliers] of grid.entries()) {
    const rows = problem.respond(multipliers, !problem.spansObjective);
    const { predictor, predictions, isConstant } = await oracle(rows, nearestPredictor(learned, multipliers));
    const { error, gamma } = problem.evaluate(predictions);
    const violation = gamma.reduce((a, b) => Math.max(a, b), -Infinity);
    const point = { predictor, multipliers, error, violation };
    points.push(point);
    if (!isConstant) learned.push(point);
    onProgress?.({ stage: 'grid search', done: done + 1, total: grid.length });
  }
  return gridSearchFit(problem, points, settings.constraintWeight, warningsFor(problem, settings));
}

function lattice(
  problem: ReductionProblem,
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
          : 'Use ReductionsWrapper, or give points as grid.',
    },
  );
}

function readPoint({ multiplierNames }: ReductionProblem, point: Multipliers): Float64Array {
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

function warningsFor({ gridAxes, warnings }: ReductionProblem, { grid }: GridSearchSettings): readonly string[] {
  if (grid !== undefined || gridAxes.length <= FINE_AXES) return warnings;
  return [
    ...warnings,
    `the grid has ${String(gridAxes.length)} dimensions, which a few points cover only sparsely; ReductionsWrapper searches all of them`,
  ];
}
