import betainc from '@stdlib/math-base-special-betainc';

import type { VarianceParts } from '../association/variance-parts.ts';

/**
 * Fisher's one-way analysis of variance: whether the means of k groups are
 * equal,
 *
 *     F = (between / (k - 1)) / (within / (n - k)),
 *
 * on k - 1 and n - k degrees of freedom. It takes the values of a group to be
 * normal with the same variance in every group; with many rows a group it holds
 * well without the first, and less well without the second.
 *
 * Undefined with fewer than two groups, with one value a group, and without any
 * spread. Without spread inside the groups alone F is infinite and p is 0.
 * @see R. Fisher, Statistical Methods for Research Workers (1925), section 41
 */
export function oneWayAnova({ n, groups, between, within }: VarianceParts): TestResult {
  const degrees = [Math.max(0, groups - 1), Math.max(0, n - groups)] as const;
  if (groups < 2 || n <= groups || !(between + within > 0)) return { statistic: NaN, degrees, pValue: NaN };
  const statistic = between / degrees[0] / (within / degrees[1]);
  return { statistic, degrees, pValue: fTail(statistic, ...degrees) };
}

/**
 * The probability that an F variable is at least a value, I_x(d2 / 2, d1 / 2)
 * with x = d2 / (d2 + d1 f), the regularised incomplete beta function.
 * @param value 0 or more
 * @param between degrees of freedom d1 of the numerator, above 0
 * @param within degrees of freedom d2 of the denominator, above 0
 */
export function fTail(value: number, between: number, within: number): number {
  return value === Infinity ? 0 : betainc(within / (within + between * value), within / 2, between / 2, true, false);
}

/** A test of one hypothesis. */
export interface TestResult {
  /** NaN where the test is undefined; Infinity where the hypothesis cannot hold. */
  readonly statistic: number;
  /** Degrees of freedom: one number of chi-square, of F those of its numerator and denominator. */
  readonly degrees: readonly number[];
  /** The probability of a statistic at least as large under the hypothesis; NaN where undefined. */
  readonly pValue: number;
}
