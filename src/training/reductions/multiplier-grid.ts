import { latticePoints } from './fairlearn-grid.ts';
import { type GridAxis, type GridSteps, NO_MULTIPLIER } from './reduction-problem.ts';

/** The libraries whose grids can be reproduced. */
export const GRID_COMPATS = ['fairlearn'] as const;

/** A library whose grid can be reproduced point for point. */
export type GridCompat = (typeof GRID_COMPATS)[number];

/** Options of {@link multiplierGrid}. */
export interface GridShape {
  /** The number of points. */
  readonly size: number;
  /** The maximum sum of multipliers. */
  readonly limit: number;
  /** Whether the multipliers of every point sum to exactly `limit`. */
  readonly onSimplex: boolean;
  /** The library whose points are reproduced. By default, a grid contains all smaller grids. */
  readonly compat?: GridCompat | undefined;
}

/**
 * Returns points with a bounded L1 norm. A positive step along an axis raises the multiplier of its positive side, and
 * a negative step raises the multiplier of its negative side.
 * @param count the number of multipliers
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

/**
 * Returns the first `size` points of one infinite sequence. A grid therefore contains every smaller grid, and its best
 * point is never worse than theirs.
 *
 * The sequence fills lattices of 1, 2, 4, 8, ... units. Each lattice contains the previous one. The points that a
 * lattice adds have odd steps along some axes. Points with the most odd steps come first, because they lie in the
 * middle of the gaps, at the largest distance from the coarser lattice. Among points with equally many odd steps, the
 * points nearest to 0 come first.
 */
function nestedPoints(axes: readonly GridAxis[], size: number, onSimplex: boolean): GridSteps[] {
  const isSigned = axes.map(({ negative }) => negative !== null);
  const points: GridSteps[] = onSimplex ? [] : [{ steps: axes.map(() => 0), units: 1 }];
  let before = -1;
  // A simplex with one axis has no finer points.
  for (let units = 1; points.length < size && points.length > before; units *= 2) {
    before = points.length;
    for (let odd = Math.min(axes.length, units); odd > 0; odd--) {
      // A sum of integers is odd if and only if its number of odd terms is odd.
      const min = onSimplex ? units : odd;
      if ((min - odd) % 2 !== 0) continue;
      for (let norm = min; norm <= units && points.length < size; norm += 2) {
        for (const steps of oddPoints(isSigned, norm, odd, size - points.length)) points.push({ steps, units });
      }
    }
  }
  return points;
}

/** Returns the first `most` integer points with this L1 norm and this number of odd steps, in lexicographic order. */
function oddPoints(isSigned: readonly boolean[], norm: number, odd: number, most: number): number[][] {
  const points: number[][] = [];
  const entry = isSigned.map(() => 0);
  const extend = (axis: number, left: number, oddLeft: number): void => {
    const axesLeft = entry.length - axis;
    // Prunes partial points that cannot be completed, so that the search does not explore dead ends.
    if (oddLeft < 0 || oddLeft > axesLeft || oddLeft > left || (axesLeft === 0 && left > 0)) return;
    if (axesLeft === 0) {
      points.push([...entry]);
      return;
    }
    for (let step = isSigned[axis] === true ? -left : 0; step <= left && points.length < most; step++) {
      entry[axis] = step;
      extend(axis + 1, left - Math.abs(step), oddLeft - (Math.abs(step) % 2));
    }
  };
  extend(0, norm, odd);
  return points;
}
