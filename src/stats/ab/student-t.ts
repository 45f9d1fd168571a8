import { criticalValue, normalCdf } from '../normal.ts';
import { fTail } from '../tests/one-way-anova.ts';

/** The number of bisection steps. With this number of steps, the result is exact to the last bit. */
const HALVINGS = 80;

/**
 * Returns the two-sided tail probability: the probability that |t| is at least |`statistic`| for Student's t.
 * @param statistic any number; NaN gives NaN
 * @param degrees above 0; Infinity means the normal distribution
 */
export function twoSidedTail(statistic: number, degrees: number): number {
  if (Number.isNaN(statistic)) return NaN;
  return degrees === Infinity ? 2 * normalCdf(-Math.abs(statistic)) : fTail(statistic * statistic, 1, degrees);
}

/**
 * Returns the two-sided critical value: with probability `level`, |t| is at most this value for Student's t.
 * @param level in (0, 1)
 * @param degrees above 0; Infinity means the normal distribution
 */
export function twoSidedCritical(level: number, degrees: number): number {
  if (degrees === Infinity) return criticalValue(level);
  if (!(degrees > 0)) return NaN;
  const alpha = 1 - level;
  let low = 0;
  let high = 1;
  while (twoSidedTail(high, degrees) > alpha) high *= 2;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2;
    if (twoSidedTail(middle, degrees) > alpha) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Computes Satterthwaite's degrees of freedom of a sum or difference of independent estimates. */
export function pooledDegrees(cells: readonly { readonly variance: number; readonly degrees: number }[]): number {
  const total = cells.reduce((sum, { variance }) => sum + variance, 0);
  const parts = cells.reduce((sum, { variance, degrees }) => sum + (variance * variance) / degrees, 0);
  return parts === 0 ? Infinity : (total * total) / parts;
}
