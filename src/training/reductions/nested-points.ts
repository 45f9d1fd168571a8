import type { GridAxis, GridSteps } from './reduction-problem.ts';

/**
 * Returns the first `size` points of one endless sequence, so that a grid
 * contains every smaller grid and its best point is never worse than theirs.
 *
 * The sequence fills lattices of 1, 2, 4, 8, ... units, each of which contains
 * the one before. The points that a lattice adds have odd steps along some axes.
 * Those with the most odd steps come first: they lie in the middle of the gaps,
 * at the largest distance from the coarser lattice. Then those nearest to 0.
 */
export function nestedPoints(axes: readonly GridAxis[], size: number, onSimplex: boolean): GridSteps[] {
  const isSigned = axes.map(({ negative }) => negative !== null);
  const points: GridSteps[] = onSimplex ? [] : [{ steps: axes.map(() => 0), units: 1 }];
  let before = -1;
  // A simplex with one axis has no finer points.
  for (let units = 1; points.length < size && points.length > before; units *= 2) {
    before = points.length;
    for (let odd = Math.min(axes.length, units); odd > 0; odd--) {
      // A sum has the parity of its odd terms.
      const least = onSimplex ? units : odd;
      if ((least - odd) % 2 !== 0) continue;
      for (let norm = least; norm <= units && points.length < size; norm += 2) {
        for (const steps of oddPoints(isSigned, norm, odd, size - points.length)) points.push({ steps, units });
      }
    }
  }
  return points;
}

/** The first `most` integer points with this L1 norm and this number of odd steps, in lexicographic order. */
function oddPoints(isSigned: readonly boolean[], norm: number, odd: number, most: number): number[][] {
  const points: number[][] = [];
  const entry = isSigned.map(() => 0);
  const extend = (axis: number, left: number, oddLeft: number): void => {
    const axesLeft = entry.length - axis;
    // Otherwise some point completes the entry, so that the search never runs into a dead end for long.
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
