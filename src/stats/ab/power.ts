import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { normalCdf, normalQuantile } from '../normal.ts';
import { requireLevel } from '../parameters.ts';
import { marginOf } from './judge-difference.ts';

/** Options of {@link differencePower} and {@link detectableDifference} that describe the test. */
export interface PowerOptions {
  /** The standard error of the difference, above 0. If the standard error is NaN or 0, the result is NaN. */
  readonly standardError: number;
  /**
   * The error rate of the two-sided test, in (0, 1).
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * Degrees of freedom of the standard error.
   * @defaultValue Infinity
   */
  readonly degrees?: number | undefined;
  /**
   * The prior standard deviation of the sequential test. The power is computed for one check alone. The power of this
   * check and all earlier checks together is higher.
   * @defaultValue undefined: a single check
   */
  readonly tau?: number | undefined;
}

const POWER_OPTION_NAMES: OptionNames<PowerOptions> = { standardError: true, alpha: true, degrees: true, tau: true };

/**
 * Computes the probability that a true difference is detected. A difference is detected if its estimate has the right
 * sign and is at least h from 0, where h is half the width of its interval:
 *
 *     power = Phi((|difference| - h) / standard error).
 * @throws {ValueError} if alpha, tau or the standard error is out of range
 * @see J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2
 * @example
 * ```ts
 * import { differencePower } from 'evenhand/stats';
 *
 * console.log(differencePower(0.0875, { standardError: 0.0493 }).toFixed(2));
 * // 0.43
 * ```
 */
export function differencePower(difference: number, options: PowerOptions): number {
  assertKnownOptions('differencePower', options, POWER_OPTION_NAMES);
  const { standardError } = options;
  return normalCdf((Math.abs(difference) - margin(options)) / standardError);
}

/**
 * Computes the smallest true difference that the test detects with a given power: h + z_power x standard error. h is
 * half the width of the interval, and z_power is the normal quantile at `power`.
 * @param power in [0.5, 1)
 * @throws {ValueError} if power, alpha, tau or the standard error is out of range
 * @example
 * ```ts
 * import { detectableDifference } from 'evenhand/stats';
 *
 * console.log(detectableDifference({ standardError: 0.0493 }).toFixed(3));
 * // 0.138
 * ```
 */
export function detectableDifference(options: PowerOptions, power = 0.8): number {
  assertKnownOptions('detectableDifference', options, POWER_OPTION_NAMES);
  if (!(power >= 0.5 && power < 1)) throw invalidParameter('power', 'be a number from 0.5 to below 1', power);
  return margin(options) + normalQuantile(power) * options.standardError;
}

function margin({ standardError, alpha = 0.05, degrees = Infinity, tau }: PowerOptions): number {
  requireLevel('alpha', alpha);
  if (standardError < 0) throw invalidParameter('standardError', 'be a number of at least 0', standardError);
  if (tau !== undefined && !(tau > 0 && tau < Infinity)) throw invalidParameter('tau', 'be a number above 0', tau);
  return standardError > 0 ? marginOf(standardError, degrees, { alpha, tau }) : NaN;
}
