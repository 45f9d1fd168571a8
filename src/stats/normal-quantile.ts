import quantile from '@stdlib/stats-base-dists-normal-quantile';

/** The two-sided critical value of the standard normal distribution at a confidence level. */
export function criticalValue(level: number): number {
  return quantile(1 - (1 - level) / 2, 0, 1);
}
