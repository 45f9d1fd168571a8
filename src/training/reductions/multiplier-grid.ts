import { latticePoints } from './fairlearn-grid.ts';
import { nestedPoints } from './nested-points.ts';
import { type GridAxis, NO_MULTIPLIER } from './reduction-problem.ts';

/** The libraries whose grids can be reproduced. */
export const GRID_COMPATS = ['fairlearn'] as const;

/** A library whose grid is reproduced, point for point. */
export type GridCompat = (typeof GRID_COMPATS)[number];

/** Options of {@link multiplierGrid}. */
export interface GridShape {
  /** How many points. */
  readonly size: number;
  /** The largest sum of multipliers. */
  readonly limit: number;
  /** Whether every point has that sum. */
  readonly onSimplex: boolean;
  /** The library whose points are reproduced; when left out, a grid contains all smaller ones. */
  readonly compat?: GridCompat | undefined;
}

/**
 * Returns points with a bounded L1 norm. A negative step along an axis is a
 * positive multiplier of its other side.
 * @param count multipliers
 * @returns [points][multipliers]
 */
export function multiplierGrid(
  axes: readonly GridAxis[],
  count: number,
  { size, limit, onSimplex, compat }: GridShape,
): Float64Array[] {
  const points = compat === 'fairlearn' ? latticePoints(axes, size, onSimplex) : nestedPoints(axes, size, onSimplex);
  return points.map(({ steps, units }) => {
    const multipliers = new Float64Array(count);
    for (const [axis, step] of steps.entries()) {
      const { positive, negative } = axes[axis] as GridAxis;
      const raised = step > 0 ? positive : negative;
      if (step !== 0 && raised !== null && raised !== NO_MULTIPLIER)
        multipliers[raised] = Math.abs(step) * (limit / units);
    }
    return multipliers;
  });
}
