/** A number of rows, and the share of them that has something. */
export interface Share {
  readonly n: number;
  readonly share: number;
}

/** The number of standard errors that is no coincidence, also among hundreds of comparisons. */
export const NO_COINCIDENCE = 5;

/** Returns whether two shares differ by more than {@link NO_COINCIDENCE} standard errors of equal shares. */
export function sharesDiffer(one: Share, other: Share): boolean {
  const pooled = (one.n * one.share + other.n * other.share) / (one.n + other.n);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / one.n + 1 / other.n));
  return Math.abs(one.share - other.share) > NO_COINCIDENCE * error;
}
