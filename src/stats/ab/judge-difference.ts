import type { Interval } from '../proportion-interval.ts';
import { msprt } from '../sequential/msprt.ts';
import { twoSidedCritical, twoSidedTail } from './student-t.ts';

/**
 * An estimated difference. The estimate is normally distributed about the true value, or t-distributed if its variance
 * is estimated.
 */
export interface EstimatedDifference {
  readonly value: number;
  readonly standardError: number;
  /** Degrees of freedom; Infinity for the normal distribution. */
  readonly degrees: number;
}

/** The settings of the test of a difference. */
export interface JudgingRule {
  /** The error rate of the test; the interval has the level 1 - alpha. */
  readonly alpha: number;
  /**
   * The standard deviation of the prior N(0, tau^2) of the difference in the mixture sequential probability ratio test,
   * which allows any number of checks. If undefined, the difference is tested once, at a number of rows fixed in
   * advance.
   */
  readonly tau?: number | undefined;
}

/** A difference with its test and interval. If the standard error is 0 or undefined, all results are NaN. */
export interface JudgedDifference extends EstimatedDifference {
  /** The two-sided p-value of the hypothesis that the difference is 0. The p-value is always-valid if `tau` is set. */
  readonly pValue: number;
  /** The interval at the level 1 - alpha. If `tau` is set, the intervals of all checks together have this level. */
  readonly interval: Interval;
  /** Half the width of the interval. An estimate further from 0 than this margin is significant at alpha. */
  readonly margin: number;
}

/**
 * Tests a difference against 0 and computes its interval. The interval contains the values that the test does not
 * reject.
 */
export function judgeDifference(difference: EstimatedDifference, rule: JudgingRule): JudgedDifference {
  const { value, standardError, degrees } = difference;
  if (!(standardError > 0) || !Number.isFinite(value)) {
    return { value, standardError, degrees, pValue: NaN, interval: [NaN, NaN], margin: NaN };
  }
  const { alpha, tau } = rule;
  const pValue =
    tau === undefined
      ? twoSidedTail(value / standardError, degrees)
      : msprt({ estimate: value, standardError, tau, alpha }).pValue;
  const margin = marginOf(standardError, degrees, rule);
  return { value, standardError, degrees, pValue, interval: [value - margin, value + margin], margin };
}

/** Returns the distance from 0 that an estimate must exceed to be significant. */
export function marginOf(standardError: number, degrees: number, { alpha, tau }: JudgingRule): number {
  if (tau === undefined) return twoSidedCritical(1 - alpha, degrees) * standardError;
  return msprt({ estimate: 0, standardError, tau, alpha }).interval[1];
}
