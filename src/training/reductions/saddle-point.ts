import { solveLinearProgram } from '../linear-program.ts';
import type { Game } from './duality-gap.ts';

/** The best mixture of the pool as it is, and the multipliers that hold it. */
export interface SaddlePoint {
  /** [members], sum 1. */
  readonly weights: Float64Array;
  readonly multipliers: Float64Array;
}

/**
 * Solves the game over the convex hull of the pool: minimise
 * sum_k error_k Q_k + B s subject to (gamma_k - bounds) . Q <= s for every
 * constraint, sum Q = 1, Q and s at least 0. The dual variables are the
 * multipliers.
 */
export async function solveSaddlePoint({ pool: { members }, problem, limit }: Game): Promise<SaddlePoint> {
  const { bounds } = problem;
  const size = members.length;
  const rows = Array.from(bounds, (bound, place) => {
    const row = Float64Array.from(members, ({ gamma }) => (gamma[place] as number) - bound);
    return [...row, -1];
  });
  const { x, duals } = await solveLinearProgram({
    objective: [...members.map(({ error }) => error), limit],
    atMost: { rows, bounds: new Float64Array(rows.length) },
    equal: { rows: [[...new Float64Array(size).fill(1), 0]], values: [1] },
  });
  return { weights: x.slice(0, size), multipliers: duals };
}
