/** The type 7 quantile (as R's and numpy's default) of values in ascending order; NaN of none. */
export function quantileSorted(sorted: ArrayLike<number>, probability: number): number {
  const position = (sorted.length - 1) * probability;
  const below = Math.floor(position);
  const low = sorted[below] ?? NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? NaN;
  // Equal or exact, so that an infinite value gives no NaN.
  return low === high || position === below ? low : low + (high - low) * (position - below);
}
