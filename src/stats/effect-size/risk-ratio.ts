import { requireCount, requireSuccesses } from '../parameters.ts';

/**
 * The ratio of two groups' rates, (a / nA) / (b / nB): 1 where they are equal,
 * 0 where the first group has no success.
 * @param a successes of the first group, from 0 to `nA`; fractions are allowed (effective counts)
 * @param nA trials of the first group
 * @param b successes of the second group, from 0 to `nB`
 * @param nB trials of the second group
 * @returns 0 or more; NaN where a group has no trials or the second no success
 * @throws {ValueError} for negative or infinite counts and for successes above their trials
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
  // Whole counts are multiplied without rounding, so that equal rates give exactly 1.
  return (a * nB) / (nA * b);
}
