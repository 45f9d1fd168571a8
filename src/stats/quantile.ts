/** Returns the type 7 quantile (the default of R and numpy) of sorted values; NaN if there are no values. */
export function quantileSorted(sorted: ArrayLike<number>, probability: number): number {
  const position = (sorted.length - 1) * probability;
  const below = Math.floor(position);
  const low = sorted[below] ?? NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? NaN;
  // Skips the interpolation for equal values and exact positions, so that an infinite value does not give NaN.
  return low === high || position === below ? low : low + (high - low) * (position - below);
}
