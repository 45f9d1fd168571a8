import quantile from '@stdlib/stats-base-dists-normal-quantile';

/** The value that a standard normal variable falls below with a probability. */
export function normalQuantile(probability: number): number {
  return quantile(probability, 0, 1);
}

/** The two-sided critical value of the standard normal distribution at a confidence level. */
export function criticalValue(level: number): number {
  return normalQuantile(1 - (1 - level) / 2);
}
