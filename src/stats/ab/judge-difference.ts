import type { Interval } from '../proportion-interval.ts';
import { msprt } from '../sequential/msprt.ts';
import { twoSidedCritical, twoSidedTail } from './student-t.ts';

/** A difference that is normal about its true value, or t where its variance was estimated. */
export interface EstimatedDifference {
  readonly value: number;
  readonly standardError: number;
  /** Infinity: normal. */
  readonly degrees: number;
}

/** How a difference is judged. */
export interface JudgingRule {
  /** The error rate of the test; the interval has the level 1 - alpha. */
  readonly alpha: number;
  /**
   * Undefined: judged once, at a number of rows fixed in advance. A number: judged as often as one likes, by the
   * mixture sequential probability ratio test with the prior N(0, tau^2) of the difference.
   */
  readonly tau?: number | undefined;
}

/** What is known of a difference; NaN all over where its standard error is 0 or undefined. */
export interface JudgedDifference extends EstimatedDifference {
  /** Of the hypothesis that the difference is 0, to both sides; always-valid under a `tau`. */
  readonly pValue: number;
  /** At the level 1 - alpha; it holds at all times together under a `tau`. */
  readonly interval: Interval;
  /** Half the interval's width: an estimate further from 0 than this is shown to be none of chance's at alpha. */
  readonly margin: number;
}

/** Tests a difference against 0 and gives it an interval, each the other's inverse. */
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

/** How far from 0 an estimate must be to be shown. */
export function marginOf(standardError: number, degrees: number, { alpha, tau }: JudgingRule): number {
  if (tau === undefined) return twoSidedCritical(1 - alpha, degrees) * standardError;
  return msprt({ estimate: 0, standardError, tau, alpha }).interval[1];
}
