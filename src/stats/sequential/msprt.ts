import { requirePositive } from './mixture-parameters.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';

/** What a mixture sequential test looks at. */
export interface MsprtInput {
  /** The estimate of the effect so far. */
  readonly estimate: number;
  /** Its standard error, above 0. */
  readonly standardError: number;
  /**
   * The standard deviation of the effects worth finding, above 0; chosen before
   * the data. The test is most powerful for effects near it.
   */
  readonly tau: number;
  /** The chance of ever rejecting a true hypothesis, in (0, 1). */
  readonly alpha: number;
  /**
   * The effect under the hypothesis.
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

/** What a mixture sequential test says at this moment. */
export interface MsprtResult {
  /** Of the mixture against the hypothesis; reject at 1 / alpha and above. Infinity where float64 ends. */
  readonly likelihoodRatio: number;
  /** min(1, 1 / likelihoodRatio). Over time keep the smallest so far: it stays valid. */
  readonly pValue: number;
  /** Effects not rejected at this moment; all intervals over time hold the effect together at 1 - alpha. */
  readonly interval: Interval;
  readonly tau: number;
  readonly alpha: number;
  readonly nullEffect: number;
}

/**
 * The mixture sequential probability ratio test of an effect that may be looked
 * at any time, as used for A/B tests.
 *
 * With the estimate normal about the effect with variance s^2 (V / n in other
 * texts), and a N(nullEffect, tau^2) law of effects, the likelihood ratio is
 * sqrt(s^2 / (s^2 + tau^2)) exp(tau^2 d^2 / (2 s^2 (s^2 + tau^2))), d being the
 * estimate minus the effect under the hypothesis. The interval holds the effects
 * with a ratio below 1 / alpha about themselves:
 * estimate -+ s sqrt((s^2 + tau^2) / tau^2 (2 ln(1 / alpha) + ln(1 + tau^2 / s^2))).
 *
 * The guarantee over all looks is exact for a mean of normal values with known
 * variance. With an estimated standard error it is asymptotic: wait for some
 * tens of observations in every cell before the first look.
 * @throws {ValueError} for a number that is not finite, a standard error or tau not above 0, or alpha out of range
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
  // In units of the standard error no square can overflow or vanish.
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
