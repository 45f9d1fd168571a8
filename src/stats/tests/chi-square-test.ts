import gammainc from '@stdlib/math-base-special-gammainc';

import { sumOf } from '../../internal/values.ts';
import type { CrossCounts } from '../association/cross-counts.ts';
import { pearsonStatistic } from '../association/pearson-statistic.ts';
import { upperGammaShare } from '../scaled-incomplete-gamma.ts';
import type { TestResult } from './one-way-anova.ts';

/**
 * With many degrees the package loses its digits: version 0.3.1 is 2% off at a
 * value of 3000 on 3000 degrees, and 0.1% at 2020 on 500.
 */
const MAX_DEGREES_OF_PACKAGE = 40;

/**
 * The probability that a chi-square variable is at least a value: the upper
 * regularised incomplete gamma function Q(k / 2, x / 2) itself, since 1 - cdf
 * is 0 in far tails.
 * @param value x, 0 or more
 * @param degrees k, degrees of freedom, above 0
 */
export function chiSquareTail(value: number, degrees: number): number {
  if (value === Infinity) return 0;
  return degrees <= MAX_DEGREES_OF_PACKAGE
    ? gammainc(value / 2, degrees / 2, true, true)
    : upperGammaShare(degrees / 2, value / 2);
}

/** Below this expected count of a cell the chi-square law is a rough one (Cochran 1954). */
export const MIN_EXPECTED_COUNT = 5;

/** A chi-square test, and how far its law may be trusted. */
export interface ChiSquareTest extends TestResult {
  /** The smallest expected count of a cell; under {@link MIN_EXPECTED_COUNT} the p-value is rough. */
  readonly leastExpected: number;
}

/**
 * Pearson's chi-square test that rows and columns of a table are independent,
 * without a continuity correction: the sumOf over cells of
 * (observed - expected)^2 / expected on (r - 1)(c - 1) degrees of freedom, rows
 * and columns without a count left out. Undefined with fewer than two of either.
 * @see K. Pearson, On the criterion that a given system of deviations... (1900)
 */
export function chiSquareIndependence(table: CrossCounts): ChiSquareTest {
  const { statistic, rows, columns, leastExpected } = pearsonStatistic(table);
  const degrees = Math.max(0, rows - 1) * Math.max(0, columns - 1);
  if (degrees === 0) return { statistic: NaN, degrees: [0], pValue: NaN, leastExpected: NaN };
  return { statistic, degrees: [degrees], pValue: chiSquareTail(statistic, degrees), leastExpected };
}

/**
 * Pearson's chi-square test that counts come from given shares: the sumOf of
 * (observed - n share)^2 / (n share) on k - 1 degrees of freedom.
 *
 * A category with a share of 0 is left out where it never occurs; where it does
 * occur, the shares cannot hold: the statistic is infinite and p is 0.
 * @param observed [k], each 0 or more
 * @param shares [k], each 0 or more; divided by their sumOf
 * @returns undefined (NaN) without counts, and with fewer than two categories
 */
export function chiSquareGoodnessOfFit(observed: ArrayLike<number>, shares: ArrayLike<number>): ChiSquareTest {
  const n = sumOf(observed);
  const unit = sumOf(shares);
  let [statistic, categories, leastExpected] = [0, 0, Infinity];
  for (let place = 0; place < observed.length; place++) {
    const count = observed[place] as number;
    const expected = (n * (shares[place] as number)) / unit;
    if (expected === 0 && count === 0) continue;
    statistic += expected === 0 ? Infinity : (count - expected) ** 2 / expected;
    categories += 1;
    leastExpected = Math.min(leastExpected, expected);
  }
  if (n === 0 || categories < 2) return { statistic: NaN, degrees: [0], pValue: NaN, leastExpected: NaN };
  return { statistic, degrees: [categories - 1], pValue: chiSquareTail(statistic, categories - 1), leastExpected };
}
