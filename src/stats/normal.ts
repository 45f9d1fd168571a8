import type { Random } from '../internal/random.ts';
import { cdf, quantile } from '../vendor/normal.ts';

/** Returns the probability that a standard normal variable is at most a value. */
export function normalCdf(value: number): number {
  return cdf(value, 0, 1);
}

/** Returns the quantile of the standard normal distribution at a probability. */
export function normalQuantile(probability: number): number {
  return quantile(probability, 0, 1);
}

/** Returns the two-sided critical value of the standard normal distribution at a confidence level. */
export function criticalValue(level: number): number {
  return normalQuantile(1 - (1 - level) / 2);
}

/**
 * Returns a sampler of the standard normal distribution that uses both numbers of each Box-Muller pair, which halves
 * the cost.
 */
export function createNormalSampler(random: Random): () => number {
  let spare = 0;
  let hasSpare = false;
  return () => {
    hasSpare = !hasSpare;
    if (!hasSpare) return spare;
    // The argument 1 - next() is never 0, so the logarithm is finite.
    const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
    const angle = 2 * Math.PI * random.next();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
