import { requirePositive } from './mixture-parameters.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';

/** The input of {@link msprt}. */
export interface MsprtInput {
  /** The current estimate of the effect. */
  readonly estimate: number;
  /** The standard error of the estimate, above 0. */
  readonly standardError: number;
  /**
   * The standard deviation of the effects that the test should detect, above 0. Choose it before you see the data. The
   * test is most powerful for effects of about this size.
   */
  readonly tau: number;
  /** The probability of ever rejecting a true hypothesis, in (0, 1). */
  readonly alpha: number;
  /**
   * The effect under the null hypothesis.
   * @defaultValue 0
   */
  readonly nullEffect?: number;
}

const MSPRT_INPUT_NAMES: OptionNames<MsprtInput> = {
  estimate: true,
  standardError: true,
  tau: true,
  alpha: true,
  nullEffect: true,
};

/** The result of a mixture sequential test at one check. */
export interface MsprtResult {
  /**
   * The likelihood ratio of the mixture to the null hypothesis. Reject the hypothesis if the ratio is at least 1 /
   * alpha. The ratio is Infinity if it overflows float64.
   */
  readonly likelihoodRatio: number;
  /** The p-value min(1, 1 / likelihoodRatio). The smallest p-value of all checks is also a valid p-value. */
  readonly pValue: number;
  /**
   * The effects that are not rejected at this check. The probability that all intervals over time contain the effect is
   * at least 1 - alpha.
   */
  readonly interval: Interval;
  readonly tau: number;
  readonly alpha: number;
  readonly nullEffect: number;
}

/**
 * Performs the mixture sequential probability ratio test of an effect. You may check the result at any time, as in A/B
 * tests.
 *
 * The estimate is normally distributed around the effect with variance s^2 (V / n in other texts). Effects have the
 * prior N(nullEffect, tau^2). The likelihood ratio is then sqrt(s^2 / (s^2 + tau^2)) exp(tau^2 d^2 / (2 s^2 (s^2 +
 * tau^2))), where d is the estimate minus the effect under the null hypothesis. The interval consists of all values
 * that would not be rejected as the null effect: estimate ± s sqrt((s^2 + tau^2) / tau^2 (2 ln(1 / alpha) + ln(1 +
 * tau^2 / s^2))).
 *
 * The guarantee over all checks is exact for a mean of normal values with known variance. With an estimated standard
 * error, the guarantee is asymptotic: collect at least a few dozen observations in every cell before the first check.
 * @throws {ValueError} if a number is not finite, the standard error or tau is not above 0, or alpha is out of range
 * @see R. Johari, P. Koomen, L. Pekelis, D. Walsh, Always valid inference (2022)
 * @example
 * ```ts
 * import { msprt } from 'evenhand/stats';
 *
 * const { pValue, interval } = msprt({ estimate: 0.0875, standardError: 0.0493, tau: 0.05, alpha: 0.05 });
 * console.log(pValue.toFixed(3), interval.map((end) => end.toFixed(3)).join(' '));
 * // 0.641 -0.092 0.267
 * ```
 */
export function msprt(options: MsprtInput): MsprtResult {
  assertKnownOptions('msprt', options, MSPRT_INPUT_NAMES);
  const { estimate, standardError, tau, alpha, nullEffect = 0 } = options;
  requireFinite('estimate', estimate);
  requireFinite('nullEffect', nullEffect);
  requirePositive('standardError', standardError);
  requirePositive('tau', tau);
  requireLevel('alpha', alpha);
  // Dividing by the standard error first prevents overflow and underflow of the squares.
  const ratio = (tau / standardError) ** 2;
  const score = (estimate - nullEffect) / standardError;
  const likelihoodRatio = Math.exp((score * score) / (2 * (1 + 1 / ratio)) - Math.log1p(ratio) / 2);
  const half = standardError * Math.sqrt((1 + 1 / ratio) * (2 * Math.log(1 / alpha) + Math.log1p(ratio)));
  return Object.freeze({
    likelihoodRatio,
    pValue: Math.min(1, 1 / likelihoodRatio),
    interval: Object.freeze<Interval>([estimate - half, estimate + half]),
    tau,
    alpha,
    nullEffect,
  });
}

function requireFinite(parameter: string, given: number): void {
  if (!Number.isFinite(given)) throw invalidParameter(parameter, 'be a finite number', given);
}
