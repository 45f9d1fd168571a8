/** Returns the type 7 quantile (the default of R and numpy) of sorted values; NaN if there are no values. */
export function quantileSorted(sorted: ArrayLike<number>, probability: number): number {
  const position = (sorted.length - 1) * probability;
  const below = Math.floor(position);
  const low = sorted[below] ?? NaN;
  const high = sorted[below + 1] ?? NaN;
  // Skips the interpolation for equal values and exact positions, such as the last one, so that neither an infinite
  // value nor a missing one gives NaN.
  return low === high || position === below ? low : low + (high - low) * (position - below);
}
