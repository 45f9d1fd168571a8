import { requireCount, requireSuccesses } from '../parameters.ts';

/**
 * Computes Cohen's d: the difference of two means in units of their pooled standard deviation, (mean x - mean y) / s
 * with s^2 = ((nx - 1) sx^2 + (ny - 1) sy^2) / (nx + ny - 2).
 * @param x values of the first group
 * @param y values of the second group
 * @returns positive if the mean of x is larger; NaN if a group has fewer than two values or a missing value, or if both
 *   groups are constant
 * @see J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), section 2.5
 * @example
 * ```ts
 * import { cohensD } from 'evenhand/stats/effect-size';
 *
 * console.log(cohensD([2, 4, 6], [1, 3, 5]));
 * // 0.5
 * ```
 */
export function cohensD(x: ArrayLike<number>, y: ArrayLike<number>): number {
  if (x.length < 2 || y.length < 2) return NaN;
  const first = spreadOf(x);
  const second = spreadOf(y);
  const pooled = Math.sqrt((first.squares + second.squares) / (x.length + y.length - 2));
  return pooled === 0 ? NaN : (first.mean - second.mean) / pooled;
}

/**
 * Computes the mean and the sum of squared deviations relative to the first value, so that equal values have a
 * variation of exactly 0.
 */
function spreadOf(values: ArrayLike<number>): { readonly mean: number; readonly squares: number } {
  const origin = values[0] as number;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) - origin;
  const shift = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += ((values[i] as number) - origin - shift) ** 2;
  return { mean: origin + shift, squares };
}

/**
 * Computes the ratio of two groups' rates, (a / nA) / (b / nB): 1 if the rates are equal, 0 if the first group has no
 * success.
 * @param a successes of the first group, from 0 to `nA`; fractions are allowed (effective counts)
 * @param nA trials of the first group
 * @param b successes of the second group, from 0 to `nB`
 * @param nB trials of the second group
 * @returns 0 or more; NaN if a group has no trials or the second group has no success
 * @throws {ValueError} if a count is negative or infinite, or successes exceed trials
 * @see A. Agresti, Categorical Data Analysis (2002), section 2.2
 * @example
 * ```ts
 * import { riskRatio } from 'evenhand/stats/effect-size';
 *
 * console.log(riskRatio(30, 100, 20, 100));
 * // 1.5
 * ```
 */
export function riskRatio(a: number, nA: number, b: number, nB: number): number {
  requireCount('nA', nA);
  requireCount('nB', nB);
  requireSuccesses('a', a, 'nA', nA);
  requireSuccesses('b', b, 'nB', nB);
  if (nA === 0 || nB === 0 || b === 0) return NaN;
  // Products of integers are exact, so equal rates give exactly 1.
  return (a * nB) / (nA * b);
}
