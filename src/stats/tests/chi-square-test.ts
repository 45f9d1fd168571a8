import { sumOf } from '../../internal/values.ts';
import type { CrossCounts } from '../association/cross-counts.ts';
import { pearsonStatistic } from '../association/pearson-statistic.ts';
import { gammainc } from '../../vendor/special.ts';
import { upperGammaShare } from '../scaled-incomplete-gamma.ts';
import type { TestResult } from './one-way-anova.ts';

/**
 * The largest degrees of freedom for which `gammainc` of the package is used. For more degrees of freedom, version
 * 0.3.1 of the package is inexact: the error is 2% at a value of 3000 on 3000 degrees, and 0.1% at a value of 2020 on
 * 500 degrees.
 */
const MAX_DEGREES_OF_PACKAGE = 40;

/**
 * Returns the probability that a chi-square variable is at least a value. The function uses the upper regularised
 * incomplete gamma function Q(k / 2, x / 2), since 1 - cdf is 0 in far tails.
 * @param value x, 0 or more
 * @param degrees k, degrees of freedom, above 0
 */
export function chiSquareTail(value: number, degrees: number): number {
  if (value === Infinity) return 0;
  return degrees <= MAX_DEGREES_OF_PACKAGE
    ? gammainc(value / 2, degrees / 2, true, true)
    : upperGammaShare(degrees / 2, value / 2);
}

/** The expected count of a cell below which the chi-square distribution is a poor approximation (Cochran 1954). */
export const MIN_EXPECTED_COUNT = 5;

/** The result of a chi-square test, with a measure of the quality of the chi-square approximation. */
export interface ChiSquareTest extends TestResult {
  /**
   * The smallest expected count of a cell. If this count is below {@link MIN_EXPECTED_COUNT}, the p-value is
   * approximate.
   */
  readonly minExpected: number;
}

/**
 * Performs Pearson's chi-square test of the hypothesis that rows and columns of a table are independent, without a
 * continuity correction. The statistic is the sum over cells of (observed - expected)^2 / expected on (r - 1)(c - 1)
 * degrees of freedom. Empty rows and columns are excluded. The result is NaN if fewer than two rows or columns remain.
 * @see K. Pearson, On the criterion that a given system of deviations... (1900)
 */
export function chiSquareIndependence(table: CrossCounts): ChiSquareTest {
  const { statistic, rows, columns, minExpected } = pearsonStatistic(table);
  const degrees = Math.max(0, rows - 1) * Math.max(0, columns - 1);
  if (degrees === 0) return { statistic: NaN, degrees: [0], pValue: NaN, minExpected: NaN };
  return { statistic, degrees: [degrees], pValue: chiSquareTail(statistic, degrees), minExpected };
}

/**
 * Performs Pearson's chi-square goodness-of-fit test of the hypothesis that categories have the given shares. The
 * statistic is the sum of (observed - n share)^2 / (n share) on k - 1 degrees of freedom.
 *
 * A category with a share of 0 is excluded if it does not occur. If such a category occurs, the statistic is infinite
 * and the p-value is 0.
 * @param observed [k], each 0 or more
 * @param shares [k], each 0 or more; they are divided by their sum
 * @returns the test; NaN if there are no counts or fewer than two categories
 */
export function chiSquareGoodnessOfFit(observed: ArrayLike<number>, shares: ArrayLike<number>): ChiSquareTest {
  const n = sumOf(observed);
  const unit = sumOf(shares);
  let [statistic, categories, minExpected] = [0, 0, Infinity];
  for (let index = 0; index < observed.length; index++) {
    const count = observed[index] as number;
    const expected = (n * (shares[index] as number)) / unit;
    if (expected === 0 && count === 0) continue;
    statistic += expected === 0 ? Infinity : (count - expected) ** 2 / expected;
    categories += 1;
    minExpected = Math.min(minExpected, expected);
  }
  if (n === 0 || categories < 2) return { statistic: NaN, degrees: [0], pValue: NaN, minExpected: NaN };
  return { statistic, degrees: [categories - 1], pValue: chiSquareTail(statistic, categories - 1), minExpected };
}
