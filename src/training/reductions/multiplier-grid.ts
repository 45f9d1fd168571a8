import { type GridAxis, type GridSteps, NO_MULTIPLIER } from './reduction-problem.ts';
import type { RowCells, RowTotals } from './row-cells.ts';

/** The names of the libraries whose grids can be reproduced. */
export const GRID_COMPATS = ['fairlearn'] as const;

/** One of {@link GRID_COMPATS}. */
export type GridCompat = (typeof GRID_COMPATS)[number];

/** Options of {@link multiplierGrid}. */
interface GridShape {
  /** The number of points. */
  readonly size: number;
  /** The maximum sum of multipliers. */
  readonly limit: number;
  /** Whether the multipliers of every point sum to exactly `limit`. */
  readonly onSimplex: boolean;
  /** The library whose points are reproduced. If no library is given, a grid contains all smaller grids. */
  readonly compat?: GridCompat | undefined;
}

/**
 * Returns the points of a grid, whose multipliers sum to at most `limit`. A positive step along an axis increases the
 * positive multiplier of the axis, and a negative step increases its negative multiplier.
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
 * point is never worse than the best point of a smaller grid.
 *
 * The sequence starts with the points of a lattice with 1 unit. Then follow the points that a lattice with 2 units
 * adds, then the points that lattices with 4, 8 and more units add. Each lattice contains all points of the previous
 * lattice. The added points have an odd number of steps along at least one axis. Points with odd steps along the most
 * axes come first, because they are farthest from the previous lattice. Among points with odd steps along equally many
 * axes, the points nearest to 0 come first.
 */
function nestedPoints(axes: readonly GridAxis[], size: number, onSimplex: boolean): GridSteps[] {
  const isSigned = axes.map(({ negative }) => negative !== null);
  const points: GridSteps[] = onSimplex ? [] : [{ steps: axes.map(() => 0), units: 1 }];
  let before = -1;
  // A simplex with one axis has a single point, so larger lattices add no points.
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

/**
 * Returns the first `most` integer points with the given L1 norm and the given number of odd steps, in lexicographic
 * order.
 */
function oddPoints(isSigned: readonly boolean[], norm: number, odd: number, most: number): number[][] {
  const points: number[][] = [];
  const entry = isSigned.map(() => 0);
  const extend = (axis: number, left: number, oddLeft: number): void => {
    const axesLeft = entry.length - axis;
    // Partial points that cannot be completed are discarded, so that the search does not explore dead ends.
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

/**
 * Returns the points of fairlearn's grid: the first `size` points, in lexicographic order, of the coarsest integer
 * lattice with at least `size` points. Later points of the lattice are omitted.
 */
function latticePoints(axes: readonly GridAxis[], size: number, onSimplex: boolean): GridSteps[] {
  // A simplex with one axis has only one point, at any resolution.
  if (onSimplex && axes.length === 1) return [{ steps: [1], units: 1 }];
  // With 0 units, a simplex contains only the origin. If the multipliers alone form the objective, there is no
  // objective at the origin.
  let units = Math.max(Number(onSimplex), fewestUnits(axes, size, onSimplex));
  let points = firstPoints(axes, units, onSimplex, size);
  while (points.length < size) points = firstPoints(axes, ++units, onSimplex, size);
  return points.map((steps) => ({ steps, units }));
}

/** Returns a lower bound of the number of units: (size / 2^signed axes)^(1 / dimensions) - 1. */
function fewestUnits(axes: readonly GridAxis[], size: number, onSimplex: boolean): number {
  const signed = axes.filter(({ negative }) => negative !== null).length;
  return Math.max(0, Math.floor((size / 2 ** signed) ** (1 / (axes.length - Number(onSimplex))) - 1));
}

/** Returns at most `most` integer points whose L1 norm is `units` or, off the simplex, at most `units`. */
function firstPoints(axes: readonly GridAxis[], units: number, onSimplex: boolean, most: number): number[][] {
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
    return Array.from({ length: left - lowest + 1 }, (_, index) => lowest + index);
  }
}

/**
 * Returns fairlearn's axes: events and groups in order of first appearance in the rows. For a parity constraint, the
 * last group is omitted. If a group has no rows in an event, the axis of this group and event does not change any
 * multiplier.
 * @param isParity whether multipliers have two sides and the constraint of the last group follows from the other
 *   constraints
 */
export function axesByAppearance(
  { slots, cellOf }: RowCells,
  { groups, firstRows }: RowTotals,
  isParity: boolean,
): GridAxis[] {
  const slotOf = new Map<string, number>();
  const firstOfEvent = new Map<number, number>();
  const firstOfGroup = new Map<number, number>();
  for (const [kind, cell] of cellOf.entries()) {
    const first = firstRows?.[kind] ?? Infinity;
    if (first === Infinity) continue;
    const [slot, group] = [cell >> 1, (kind >> 1) % groups.length];
    firstOfGroup.set(group, Math.min(firstOfGroup.get(group) ?? Infinity, first));
    const event = slots[slot]?.event;
    if (event === undefined) continue;
    firstOfEvent.set(event, Math.min(firstOfEvent.get(event) ?? Infinity, first));
    slotOf.set(`${String(event)} ${String(group)}`, slot);
  }
  const appeared = byFirstRow(firstOfGroup);
  const kept = isParity ? appeared.slice(0, -1) : appeared;
  return byFirstRow(firstOfEvent).flatMap((event) =>
    kept.map((group) => {
      const slot = slotOf.get(`${String(event)} ${String(group)}`) ?? NO_MULTIPLIER;
      const other = slot === NO_MULTIPLIER ? NO_MULTIPLIER : slots.length + slot;
      return { positive: slot, negative: isParity ? other : null };
    }),
  );
}

function byFirstRow(firstOf: ReadonlyMap<number, number>): number[] {
  return [...firstOf].sort(([, a], [, b]) => a - b).map(([item]) => item);
}
