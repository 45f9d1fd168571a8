import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { normalCdf } from '../normal.ts';
import { logScaledUpperGamma } from '../scaled-incomplete-gamma.ts';
import { mixtureBound } from './mixture-bound.ts';
import {
  MIXTURE_OPTION_NAMES,
  type MixtureOptions,
  requireSumAndTime,
  requireTimeAndLevel,
  rhoFrom,
} from './mixture-parameters.ts';

/**
 * The value below which the logarithm of the normal cdf is computed from the incomplete gamma function, which does not
 * underflow.
 */
const FAR_TAIL = -5;

/** Options of the normal mixture. */
export interface NormalMixtureOptions extends MixtureOptions {
  /**
   * Whether the boundary is only on one side of 0. If it is false, there are boundaries on both sides of 0, at the same
   * alpha.
   * @defaultValue true
   */
  readonly oneSided?: boolean;
}

const NORMAL_MIXTURE_OPTION_NAMES: OptionNames<NormalMixtureOptions> = { ...MIXTURE_OPTION_NAMES, oneSided: true };

/**
 * Computes ln of the normal mixture supermartingale of a sub-Gaussian sum s with variance process v: the mean of
 * exp(lambda s - lambda^2 v / 2) over a normal lambda with variance 1 / rho, or over its absolute value for one side.
 *
 * For two sides, the result is ln(rho / (v + rho)) / 2 + s^2 / (2 (v + rho)). For one side, ln 2 and ln of the normal
 * cdf at s / sqrt(v + rho) are added.
 * @param s the sum, any finite number
 * @param v at least 0
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021)
 * @example
 * ```ts
 * import { normalLogMixture } from 'evenhand/stats';
 *
 * console.log(normalLogMixture(10, 100, { vOpt: 100, oneSided: false }).toFixed(4));
 * // -0.6510
 * ```
 */
export function normalLogMixture(s: number, v: number, options: NormalMixtureOptions): number {
  assertKnownOptions('normalLogMixture', options, NORMAL_MIXTURE_OPTION_NAMES);
  requireSumAndTime(s, v);
  return (options.oneSided ?? true) ? oneSided(s, v, rhoFrom(options, 1)) : twoSided(s, v, rhoFrom(options, 2));
}

/**
 * Computes a boundary at time v of the variance process. The probability that a sub-Gaussian sum ever crosses the
 * boundary is at most alpha. For two sides, this holds for the absolute value of the sum, and the boundary is sqrt((v +
 * rho) (ln(1 + v / rho) + 2 ln(1 / alpha))).
 *
 * The sum of n independent values in [0, 1], minus the sum of their means, is sub-Gaussian with v = n / 4.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al. (2021)
 * @example
 * ```ts
 * import { normalMixtureBound } from 'evenhand/stats';
 *
 * console.log(normalMixtureBound(100, 0.05, { vOpt: 100, oneSided: false }).toFixed(4));
 * // 30.3521
 * ```
 */
export function normalMixtureBound(v: number, alpha: number, options: NormalMixtureOptions): number {
  assertKnownOptions('normalMixtureBound', options, NORMAL_MIXTURE_OPTION_NAMES);
  requireTimeAndLevel(v, alpha);
  if (!(options.oneSided ?? true)) return twoSidedNormalBound(v, alpha, rhoFrom(options, 2));
  const rho = rhoFrom(options, 1);
  return mixtureBound((s) => oneSided(s, v, rho), alpha, Math.sqrt(v + rho));
}

/** Returns the closed form of the two-sided boundary without checking the arguments. */
export function twoSidedNormalBound(v: number, alpha: number, rho: number): number {
  return Math.sqrt((v + rho) * (Math.log1p(v / rho) + 2 * Math.log(1 / alpha)));
}

function twoSided(s: number, v: number, rho: number): number {
  return (s * s) / (2 * (v + rho)) - Math.log1p(v / rho) / 2;
}

function oneSided(s: number, v: number, rho: number): number {
  const z = s / Math.sqrt(v + rho);
  const shrunk = Math.LN2 - Math.log1p(v / rho) / 2;
  if (z >= FAR_TAIL) return shrunk + (z * z) / 2 + Math.log(normalCdf(z));
  // The normal cdf at -sqrt(2 b), times e^b, is sqrt(b / pi) / 2 times this integral.
  const b = (z * z) / 2;
  return shrunk - Math.LN2 + Math.log(b / Math.PI) / 2 + logScaledUpperGamma(0.5, b);
}
