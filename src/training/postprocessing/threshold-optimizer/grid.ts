/** Sums of rounded terms, or differences of grid values, that differ by less are the same: neither is better. */
export const ROUNDING = 1e-12;

/**
 * gridSize + 1 numbers from 0 to 1, evenly spaced. Multiples of the rounded step, as numpy's linspace has them, so that
 * a rule whose rate lies on a threshold's own has the same two thresholds as there.
 */
export function unitGrid(gridSize: number): Float64Array {
  const step = 1 / gridSize;
  return Float64Array.from({ length: gridSize + 1 }, (_, place) => (place === gridSize ? 1 : place * step));
}

/** The first place of the largest value, a rounding not counted: so the order in which groups were added decides nothing. */
export function firstOfLargest(values: Float64Array): number {
  const largest = values.reduce((a, b) => Math.max(a, b));
  return values.findIndex((value) => value >= largest - ROUNDING);
}
