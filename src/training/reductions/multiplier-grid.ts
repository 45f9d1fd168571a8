import type { GridAxis } from './reduction-problem.ts';

/** Options of {@link multiplierGrid}. */
export interface GridShape {
  /** How many points. */
  readonly size: number;
  /** The largest sum of multipliers. */
  readonly limit: number;
  /** Whether every point has that sum. */
  readonly onSimplex: boolean;
}

/**
 * Points with a bounded L1 norm: the first `size` of the coarsest integer
 * lattice that has as many, in lexicographic order, scaled to the limit. A
 * negative step along an axis is a positive multiplier of its other side.
 * @param count multipliers
 * @returns [points][multipliers]
 */
export function multiplierGrid(
  axes: readonly GridAxis[],
  count: number,
  { size, limit, onSimplex }: GridShape,
): Float64Array[] {
  const units = latticeUnits(axes, size, onSimplex);
  const scale = units === 0 ? 0 : limit / units;
  return latticePoints(axes, units, onSimplex, size).map((point) => {
    const multipliers = new Float64Array(count);
    for (const [axis, steps] of point.entries()) {
      const { positive, negative } = axes[axis] as GridAxis;
      if (steps > 0) multipliers[positive] = steps * scale;
      if (steps < 0 && negative !== null) multipliers[negative] = -steps * scale;
    }
    return multipliers;
  });
}

/** The fewest units with enough points, from a bound below: (size / 2^signed axes)^(1 / dimensions) - 1. */
function latticeUnits(axes: readonly GridAxis[], size: number, onSimplex: boolean): number {
  const dimensions = axes.length - Number(onSimplex);
  // A simplex of one axis is one point, however fine.
  if (dimensions === 0) return 1;
  const signed = axes.filter(({ negative }) => negative !== null).length;
  // With no units a simplex is the origin, where a grid that spans the objective has no objective.
  let units = Math.max(Number(onSimplex), Math.floor((size / 2 ** signed) ** (1 / dimensions) - 1));
  while (latticePoints(axes, units, onSimplex, size).length < size) units++;
  return units;
}

/** Integer points of L1 norm `units` or, off the simplex, at most that; no more than `most`. */
function latticePoints(axes: readonly GridAxis[], units: number, onSimplex: boolean, most: number): number[][] {
  const points: number[][] = [];
  const entry = axes.map(() => 0);
  const extend = (axis: number, left: number): void => {
    if (points.length === most) return;
    if (axis === axes.length) {
      points.push([...entry]);
      return;
    }
    for (const steps of stepsOf(axis, left)) {
      entry[axis] = steps;
      extend(axis + 1, left - Math.abs(steps));
    }
  };
  extend(0, units);
  return points;

  function stepsOf(axis: number, left: number): number[] {
    const isSigned = axes[axis]?.negative !== null;
    if (onSimplex && axis === axes.length - 1) return isSigned && left > 0 ? [-left, left] : [left];
    const lowest = isSigned ? -left : 0;
    return Array.from({ length: left - lowest + 1 }, (_, place) => lowest + place);
  }
}
