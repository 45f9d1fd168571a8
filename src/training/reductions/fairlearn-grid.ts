import type { CategoricalColumn } from '../../table/index.ts';
import { type GridAxis, type GridSteps, NO_MULTIPLIER } from './reduction-problem.ts';
import type { RowCells } from './row-cells.ts';

/**
 * Returns the points of fairlearn's grid: the first `size` points, in lexicographic order, of the coarsest integer
 * lattice with at least that many points. If that lattice has more points, the grid covers only one side of it.
 */
export function latticePoints(axes: readonly GridAxis[], size: number, onSimplex: boolean): GridSteps[] {
  // A simplex with one axis has only one point, at any resolution.
  if (onSimplex && axes.length === 1) return [{ steps: [1], units: 1 }];
  // With 0 units, a simplex contains only the origin. A grid that spans the objective has no objective there.
  let units = Math.max(Number(onSimplex), fewestUnits(axes, size, onSimplex));
  let points = firstPoints(axes, units, onSimplex, size);
  while (points.length < size) points = firstPoints(axes, ++units, onSimplex, size);
  return points.map((steps) => ({ steps, units }));
}

/** Returns a lower bound of the units: (size / 2^signed axes)^(1 / dimensions) - 1. */
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
 * last group is omitted. If a group has no rows in an event, its axis there does not change any multiplier.
 * @param isParity whether multipliers have two sides, and the last group's constraint follows from the others'
 */
export function axesByAppearance(cells: RowCells, groups: CategoricalColumn, isParity: boolean): GridAxis[] {
  const { codes, slots } = cells;
  const slotOf = new Map<string, number>();
  const events = new Set<number>();
  for (const [row, cell] of codes.entries()) {
    const slot = cell >> 1;
    const event = slots[slot]?.event;
    if (event === undefined) continue;
    events.add(event);
    slotOf.set(`${String(event)} ${String(groups.codes[row])}`, slot);
  }
  const appeared = [...new Set(groups.codes)];
  const kept = isParity ? appeared.slice(0, -1) : appeared;
  return [...events].flatMap((event) =>
    kept.map((group) => {
      const slot = slotOf.get(`${String(event)} ${String(group)}`) ?? NO_MULTIPLIER;
      const other = slot === NO_MULTIPLIER ? NO_MULTIPLIER : slots.length + slot;
      return { positive: slot, negative: isParity ? other : null };
    }),
  );
}
