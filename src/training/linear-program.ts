import type { Highs, ModelData, RunResult } from 'highs';

import { TrainingError } from '../exceptions/index.ts';
import { invalidParameter } from '../internal/arguments.ts';

/** The rows of a linear program, each with one coefficient per variable. */
type Rows = readonly ArrayLike<number>[];

/** A linear program: minimise `objective` . x subject to linear constraints and bounds. */
export interface LinearProgram {
  /** One finite cost per variable. There must be at least one variable. */
  readonly objective: ArrayLike<number>;
  /** The constraints rows x <= bounds, with one bound per row. A bound of Infinity disables its row. */
  readonly atMost: { readonly rows: Rows; readonly bounds: ArrayLike<number> };
  /**
   * The constraints rows x = values.
   * @defaultValue none
   */
  readonly equal?: { readonly rows: Rows; readonly values: ArrayLike<number> } | undefined;
  /**
   * The lower bounds of the variables: one bound per variable, or one bound for all variables. -Infinity means no
   * bound.
   * @defaultValue 0
   */
  readonly lower?: ArrayLike<number> | number | undefined;
  /**
   * The upper bounds of the variables: one bound per variable, or one bound for all variables. Infinity means no bound.
   * @defaultValue Infinity
   */
  readonly upper?: ArrayLike<number> | number | undefined;
}

/** The result of {@link solveLinearProgram}. */
export interface LinearProgramSolution {
  readonly x: Float64Array;
  /** The minimum of `objective` . x. */
  readonly value: number;
  /**
   * For each row of `atMost`, the amount by which the minimum decreases if the row's bound increases by one unit; 0 or
   * more.
   */
  readonly duals: Float64Array;
  /**
   * For each row of `equal`, the amount by which the minimum increases if the row's right side increases by one unit.
   */
  readonly equalDuals: Float64Array;
}

/** HiGHS treats a coefficient below this value as zero. The solver does not accept a smaller value for this option. */
const SMALLEST_COEFFICIENT = 1e-12;

/**
 * The solver's tolerance on bounds and reduced costs. A tolerance of 1e-7 would cause visible errors in results that
 * are compared to 8 digits.
 */
const FEASIBILITY_TOLERANCE = 1e-9;

let solver: Promise<Highs> | undefined;

/**
 * Solves a linear program with HiGHS, the solver behind scipy's `linprog`. HiGHS runs as WebAssembly in this thread.
 * HiGHS is loaded from a file of the package, without network access. The solution is always the same vertex.
 *
 * Let y be the duals of `atMost` and z the duals of `equal`. If the variables are bounded only by 0, strong duality
 * gives value = z . values - y . bounds.
 * @throws {ValueError} if lengths differ, or if coefficients are not finite
 * @throws {TrainingError} if the program is infeasible or unbounded
 */
export async function solveLinearProgram(program: LinearProgram): Promise<LinearProgramSolution> {
  const model = modelOf(program);
  const highs = await loadSolver();
  return highs.withModel(model, (instance) => {
    instance.options.set({
      output_flag: false,
      small_matrix_value: SMALLEST_COEFFICIENT,
      primal_feasibility_tolerance: FEASIBILITY_TOLERANCE,
      dual_feasibility_tolerance: FEASIBILITY_TOLERANCE,
    });
    assertOptimal(highs, instance.run(), model);
    const { colValue, rowDual } = instance.getSolution();
    const inequalities = program.atMost.rows.length;
    return {
      x: colValue,
      value: colValue.reduce((sum, x, index) => sum + x * (program.objective[index] as number), 0),
      // HiGHS returns the change of the value per unit increase of the bound. For an upper bound, this change is never
      // positive.
      duals: rowDual.slice(0, inequalities).map((dual) => Math.max(0, -dual)),
      equalDuals: rowDual.slice(inequalities),
    };
  });
}

/** Loads the solver once. If loading fails, the next call tries again. */
async function loadSolver(): Promise<Highs> {
  // The package's types describe the CommonJS file, in which the loader is inside an additional `default` property.
  solver ??= import('highs').then(async ({ default: loader }) => (loader as unknown as typeof loader.default)());
  try {
    return await solver;
  } catch (cause) {
    solver = undefined;
    throw new TrainingError('The linear program solver did not start.', {
      cause,
      suggestion: 'Reinstall the packages to restore the WebAssembly file of `highs`.',
    });
  }
}

function modelOf({ objective, atMost, equal, lower, upper }: LinearProgram): ModelData {
  const count = objective.length;
  if (count === 0) throw invalidParameter('objective', 'have at least one variable', '[]');
  const rows = Object.entries({ atMost, equal }).flatMap(([parameter, part]) =>
    (part?.rows ?? []).map((row, index) => finite(`${parameter}.rows[${String(index)}]`, row, count)),
  );
  const bounds = numbers('atMost.bounds', atMost.bounds, atMost.rows.length);
  const values = finite('equal.values', equal?.values ?? [], equal?.rows.length ?? 0);
  const [colLower, colUpper] = [
    perVariable('lower', lower ?? 0, count),
    perVariable('upper', upper ?? Infinity, count),
  ];
  const crossed = colLower.findIndex((bound, index) => bound > (colUpper[index] as number));
  if (crossed >= 0) throw invalidParameter('lower', `be at most upper, variable ${String(crossed)}`, colLower[crossed]);
  return {
    numCols: count,
    numRows: rows.length,
    colCost: finite('objective', objective, count),
    colLower,
    colUpper,
    rowLower: [...bounds.map(() => -Infinity), ...values],
    rowUpper: [...bounds, ...values],
    matrix: sparse(rows, count),
  };
}

/** Converts rows to the compressed sparse row format, which omits zeros. */
function sparse(rows: Rows, numCols: number): ModelData['matrix'] {
  const [starts, indices, values]: [number[], number[], number[]] = [[0], [], []];
  for (const row of rows) {
    for (let column = 0; column < numCols; column++) {
      const value = row[column] as number;
      if (value === 0) continue;
      indices.push(column);
      values.push(value);
    }
    starts.push(indices.length);
  }
  return { format: 'csr', numRows: rows.length, numCols, starts, indices, values };
}

function finite(parameter: string, given: ArrayLike<number>, count: number): Float64Array {
  const values = numbers(parameter, given, count);
  const position = values.findIndex((value) => !Number.isFinite(value));
  if (position >= 0) throw invalidParameter(parameter, `be finite at index ${String(position)}`, values[position]);
  return values;
}

function numbers(parameter: string, given: ArrayLike<number>, count: number): Float64Array {
  const values = Float64Array.from(given);
  if (values.length !== count) throw invalidParameter(parameter, `have ${String(count)} values`, values.length);
  const position = values.findIndex((value) => Number.isNaN(value));
  if (position >= 0) throw invalidParameter(parameter, `hold no NaN at index ${String(position)}`, NaN);
  return values;
}

function perVariable(parameter: string, given: ArrayLike<number> | number, count: number): Float64Array {
  return numbers(parameter, typeof given === 'number' ? new Float64Array(count).fill(given) : given, count);
}

function assertOptimal(highs: Highs, { modelStatus }: RunResult, { numCols, numRows }: ModelData): void {
  const names = highs.constants.modelStatus;
  // If there are no rows and no costs, any point within the bounds is optimal.
  if (modelStatus === names.optimal || modelStatus === names.empty) return;
  const status = Object.entries(names).find(([, code]) => code === modelStatus)?.[0] ?? String(modelStatus);
  const isUnbounded = modelStatus === names.unbounded;
  throw new TrainingError(
    `A linear program of ${String(numCols)} variables and ${String(numRows)} rows has no optimum: it is ${status}.`,
    {
      context: { status, variables: numCols, rows: numRows },
      suggestion: isUnbounded
        ? 'Add bounds to the variables whose cost is negative.'
        : 'Relax the bounds: no point satisfies all of them.',
    },
  );
}
