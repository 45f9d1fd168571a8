/** How ratios become weights: min(limit, scale x ratio). */
export interface MeanOne {
  readonly scale: number;
  readonly limit: number;
  /** The cells whose ratio is cut. */
  readonly cut: readonly number[];
}

/**
 * Weights in proportion to ratios, of mean 1 over `masses` and cut at a limit:
 * what is cut off goes to the others in proportion. Where even the limit for
 * all cells of a ratio above 0 leaves the mean below 1, all of them weigh the
 * same, more than the limit. O(cells log cells).
 * @param ratios one per cell, 0 or more
 * @param masses the weight of the rows of each cell
 * @param limit the most that a weight may be, at least 1
 */
export function scaleToMeanOne(ratios: ArrayLike<number>, masses: ArrayLike<number>, limit: number): MeanOne {
  const cells = Array.from({ length: ratios.length }, (_, cell) => cell).filter((cell) => (ratios[cell] as number) > 0);
  cells.sort((a, b) => (ratios[b] as number) - (ratios[a] as number));
  const total = sum(masses);
  let left = total;
  let sought = cells.reduce((all, cell) => all + (ratios[cell] as number) * (masses[cell] as number), 0);
  for (let place = 0; place < cells.length; place++) {
    const cell = cells[place] as number;
    const scale = left / sought;
    if (scale * (ratios[cell] as number) <= limit) return { scale, limit, cut: cells.slice(0, place) };
    left -= limit * (masses[cell] as number);
    sought -= (ratios[cell] as number) * (masses[cell] as number);
    if (left <= 0 || sought <= 0) break;
  }
  // Any ratio above 0 then reaches the limit, and JSON can hold the scale.
  return { scale: Number.MAX_VALUE, limit: total / sum(cells.map((cell) => masses[cell] as number)), cut: cells };
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let place = 0; place < values.length; place++) total += values[place] as number;
  return total;
}
