import { ValueError } from '../../../exceptions/index.ts';
import { type LinearProgram, solveLinearProgram } from '../../linear-program.ts';
import { hullAt, type TradeoffHull } from './tradeoff-hull.ts';

/** A group's false positive rate (x) and true positive rate (y). */
export interface OddsPoint {
  readonly x: number;
  readonly y: number;
}

/**
 * The effect of a group's two rates on the objective. `truePositiveRate` is the increase of the objective per unit of
 * this rate.
 */
export interface OddsGain {
  readonly truePositiveRate: number;
  /** The decrease of the objective per unit of the false positive rate. */
  readonly falsePositiveRate: number;
}

/**
 * The maximum number of cells in the solver's input matrix. The matrix is dense, so a matrix of this size takes 160 MB.
 */
const MAX_CELLS = 2e7;

/**
 * Solves a linear program to find the rates of each group that maximise the objective under relaxed equalized odds.
 * Both the false positive rates and the true positive rates of any two groups differ by at most `tolerance`.
 *
 * The variables are the rates x_g and y_g of each group g, and the lower left corner (a, b) of a square with side
 * `tolerance` that contains the points (x_g, y_g) of all groups. The constraints keep each y_g on or below every edge
 * of the group's hull, and on or above the diagonal. Decisions that ignore the score reach the points of the diagonal.
 * Points below the diagonal are never better.
 * @throws {ValueError} if there are more groups than the solver supports
 * @throws {TrainingError} if the solver fails
 */
export async function relaxedOdds(
  hulls: readonly TradeoffHull[],
  gains: readonly OddsGain[],
  tolerance: number,
): Promise<OddsPoint[]> {
  assertSolvable(hulls);
  const { x: solution } = await solveLinearProgram(oddsProgram(hulls, gains, tolerance));
  return hulls.map((hull, group) => insideHull(hull, solution[2 * group] as number, solution[2 * group + 1] as number));
}

/**
 * Builds the linear program. For group g, x is variable 2 g and y is variable 2 g + 1. The last two variables are the
 * corner of the square.
 */
function oddsProgram(hulls: readonly TradeoffHull[], gains: readonly OddsGain[], tolerance: number): LinearProgram {
  const [a, b] = [2 * hulls.length, 2 * hulls.length + 1];
  const rows: Float64Array[] = [];
  const bounds: number[] = [];
  for (const [group, hull] of hulls.entries()) {
    const [x, y] = [2 * group, 2 * group + 1];
    for (const { dx, dy, height } of edgesOf(hull)) atMost(height, [y, dx], [x, -dy]);
    atMost(0, [x, 1], [y, -1]);
    atMost(0, [a, 1], [x, -1]);
    atMost(tolerance, [x, 1], [a, -1]);
    atMost(0, [b, 1], [y, -1]);
    atMost(tolerance, [y, 1], [b, -1]);
  }
  const costs = gains.flatMap(({ truePositiveRate, falsePositiveRate }) => [falsePositiveRate, -truePositiveRate]);
  return { objective: [...costs, 0, 0], atMost: { rows, bounds }, upper: 1 };

  function atMost(bound: number, ...terms: readonly (readonly [variable: number, factor: number])[]): void {
    const row = new Float64Array(2 * hulls.length + 2);
    for (const [variable, factor] of terms) row[variable] = factor;
    rows.push(row);
    bounds.push(bound);
  }
}

/**
 * Returns the edges of a hull. Each edge has the form y dx - x dy <= height. Vertical edges are omitted because they do
 * not limit y. Each edge is scaled so that the larger of dx and |dy| is 1. The solver's tolerance on a constraint is
 * then a tolerance on a rate.
 */
function edgesOf({ x, y }: TradeoffHull): { dx: number; dy: number; height: number }[] {
  const edges = Array.from({ length: x.length - 1 }, (_, left) => {
    const [x0, y0] = [x[left] as number, y[left] as number];
    const [width, rise] = [(x[left + 1] as number) - x0, (y[left + 1] as number) - y0];
    const longer = Math.max(width, Math.abs(rise));
    const [dx, dy] = [width / longer, rise / longer];
    return { dx, dy, height: y0 * dx - x0 * dy };
  });
  return edges.filter(({ dx }) => dx > 0);
}

/** Moves a point down to its hull if the point lies above the hull. The solver satisfies constraints only to 1e-9. */
function insideHull(hull: TradeoffHull, x: number, y: number): OddsPoint {
  const inside = Math.min(1, Math.max(0, x));
  return { x: inside, y: Math.max(inside, Math.min(hullAt(hull, inside), y)) };
}

function assertSolvable(hulls: readonly TradeoffHull[]): void {
  const size = 2 * hulls.length + 2;
  const rows = hulls.reduce((sum, { x }) => sum + x.length + 4, 0);
  if (rows * size <= MAX_CELLS) return;
  throw new ValueError(
    `A tolerance for equalized_odds is solved as a linear program, and these ${String(hulls.length)} groups need ` +
      `${String(rows)} rows of ${String(size)} numbers; the limit is ${String(MAX_CELLS)} numbers.`,
    {
      context: { parameter: 'tolerance', groups: hulls.length, rows },
      suggestion: 'Use tolerance 0, a simple constraint, or fewer groups.',
    },
  );
}
