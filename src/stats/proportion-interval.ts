import { criticalValue } from './normal.ts';

/** The lower and the upper end of an interval. */
export type Interval = readonly [low: number, high: number];

/**
 * Computes Wilson's score interval for a proportion (Wilson 1927): the values p for which |k/n - p| <= z sqrt(p (1 - p)
 * / n).
 * @param successes k, from 0 to `trials`; fractions are allowed (effective counts)
 * @param trials n; 0 gives [0, 1]
 * @param level confidence level in (0, 1)
 */
export function wilsonInterval(successes: number, trials: number, level: number): Interval {
  if (trials <= 0) return [0, 1];
  const z = criticalValue(level);
  const rate = successes / trials;
  const shrink = 1 + (z * z) / trials;
  const centre = (rate + (z * z) / (2 * trials)) / shrink;
  const half = (z / shrink) * Math.sqrt((rate * (1 - rate)) / trials + (z * z) / (4 * trials * trials));
  // With 0 or n successes, one end equals the rate except for rounding.
  return [Math.max(0, Math.min(rate, centre - half)), Math.min(1, Math.max(rate, centre + half))];
}
