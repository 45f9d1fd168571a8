import cdf from '@stdlib/stats-base-dists-normal-cdf';

/** The probability that a standard normal variable is at most a value. */
export function normalCdf(value: number): number {
  return cdf(value, 0, 1);
}
