import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { logScaledLowerGamma } from '../scaled-incomplete-gamma.ts';
import { mixtureBound } from './mixture-bound.ts';
import {
  MIXTURE_OPTION_NAMES,
  type MixtureOptions,
  requirePositive,
  requireSumAndTime,
  requireTimeAndLevel,
  rhoFrom,
} from './mixture-parameters.ts';

/** Options of a mixture with a scale. */
export interface ScaledMixtureOptions extends MixtureOptions {
  /** The scale c of the tail, above 0, in the units of s. The scale is 1 for errors of values in [0, 1]. */
  readonly c: number;
}

const SCALED_MIXTURE_OPTION_NAMES: OptionNames<ScaledMixtureOptions> = { ...MIXTURE_OPTION_NAMES, c: true };

/** Returns ln of a mixture with a scale at a sum s and a time v of the variance process. */
export type LogMixture = (s: number, v: number, c: number, rho: number) => number;

/** Checks the arguments of a mixture with a scale, and computes its logarithm. */
export function scaledLogMixture(
  name: string,
  logMixture: LogMixture,
  s: number,
  v: number,
  options: ScaledMixtureOptions,
): number {
  assertKnownOptions(name, options, SCALED_MIXTURE_OPTION_NAMES);
  requireSumAndTime(s, v);
  requirePositive('c', options.c);
  return logMixture(s, v, options.c, rhoFrom(options, 1));
}

/** Checks the arguments of a boundary with a scale, and computes it. */
export function scaledMixtureBound(
  name: string,
  logMixture: LogMixture,
  v: number,
  alpha: number,
  options: ScaledMixtureOptions,
): number {
  assertKnownOptions(name, options, SCALED_MIXTURE_OPTION_NAMES);
  requireTimeAndLevel(v, alpha);
  const { c } = options;
  requirePositive('c', c);
  const rho = rhoFrom(options, 1);
  return mixtureBound((s) => logMixture(s, v, c, rho), alpha, c + Math.sqrt(v + rho));
}

/**
 * Computes ln of the gamma-exponential mixture supermartingale of a sub-exponential sum s with variance process v and
 * scale c. The mixture is the mean of exp(lambda s - v psi(lambda)) with psi(lambda) = (-ln(1 - c lambda) - c lambda) /
 * c^2. In this mean, 1 - c lambda has a gamma distribution of shape and rate rho / c^2, truncated at 1.
 * @param s the sum, any finite number
 * @param v at least 0
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021)
 * @example
 * ```ts
 * import { gammaExponentialLogMixture } from 'evenhand/stats';
 *
 * console.log(gammaExponentialLogMixture(10, 100, { vOpt: 100, c: 2 }).toFixed(4));
 * // -0.2490
 * ```
 */
export function gammaExponentialLogMixture(s: number, v: number, options: ScaledMixtureOptions): number {
  return scaledLogMixture('gammaExponentialLogMixture', logMixture, s, v, options);
}

/**
 * Computes a boundary at time v of the variance process. The probability that a sub-exponential sum ever crosses the
 * boundary is at most alpha. The boundary is the sum at which the gamma-exponential mixture reaches 1 / alpha.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al. (2021)
 * @example
 * ```ts
 * import { gammaExponentialMixtureBound } from 'evenhand/stats';
 *
 * console.log(gammaExponentialMixtureBound(100, 0.05, { vOpt: 100, c: 2 }).toFixed(4));
 * // 33.0202
 * ```
 */
export function gammaExponentialMixtureBound(v: number, alpha: number, options: ScaledMixtureOptions): number {
  return scaledMixtureBound('gammaExponentialMixtureBound', logMixture, v, alpha, options);
}

/**
 * With t = 1 - c lambda, a = (v + rho) / c^2 and b = a + s / c, the integrand is t^(a - 1) e^(b (1 - t)), and the
 * normalising constant of the distribution is the same integral at s = v = 0.
 */
function logMixture(s: number, v: number, c: number, rho: number): number {
  const shape = rho / (c * c);
  const a = v / (c * c) + shape;
  return logScaledLowerGamma(a, a + s / c) - logScaledLowerGamma(shape, shape);
}
