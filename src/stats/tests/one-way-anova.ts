import { betainc } from '../../vendor/special.ts';
import type { VarianceParts } from '../association/variance-parts.ts';

/**
 * Performs Fisher's one-way analysis of variance of the hypothesis that the means of k groups are equal:
 *
 *     F = (between / (k - 1)) / (within / (n - k)),
 *
 * on k - 1 and n - k degrees of freedom. The test assumes that the values of a group are normal with the same variance
 * in every group. With many rows per group, the test is robust to values that are not normal, but less robust to
 * unequal variances.
 *
 * The result is NaN if there are fewer than two groups, if each group has one value, or if all values are equal. If the
 * values are equal only within each group, F is infinite and the p-value is 0.
 * @see R. Fisher, Statistical Methods for Research Workers (1925), section 41
 */
export function oneWayAnova({ n, groups, between, within }: VarianceParts): TestResult {
  const degrees = [Math.max(0, groups - 1), Math.max(0, n - groups)] as const;
  if (groups < 2 || n <= groups || !(between + within > 0)) return { statistic: NaN, degrees, pValue: NaN };
  const statistic = between / degrees[0] / (within / degrees[1]);
  return { statistic, degrees, pValue: fTail(statistic, ...degrees) };
}

/**
 * Returns the probability that an F variable is at least a value: I_x(d2 / 2, d1 / 2) with x = d2 / (d2 + d1 f), the
 * regularised incomplete beta function.
 * @param value 0 or more
 * @param between degrees of freedom d1 of the numerator, above 0
 * @param within degrees of freedom d2 of the denominator, above 0
 */
export function fTail(value: number, between: number, within: number): number {
  return value === Infinity ? 0 : betainc(within / (within + between * value), within / 2, between / 2, true, false);
}

/** The result of a test of one hypothesis. */
export interface TestResult {
  /**
   * The test statistic; NaN if the test is undefined, Infinity if the data contradict the hypothesis with certainty.
   */
  readonly statistic: number;
  /** The degrees of freedom: one number for chi-square, two numbers (numerator and denominator) for F. */
  readonly degrees: readonly number[];
  /**
   * The probability that the statistic is at least as large as the observed statistic if the hypothesis is true; NaN if
   * undefined.
   */
  readonly pValue: number;
}
