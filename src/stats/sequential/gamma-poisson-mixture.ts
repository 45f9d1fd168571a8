import { logScaledUpperGamma } from '../scaled-incomplete-gamma.ts';
import { type ScaledMixtureOptions, scaledLogMixture, scaledMixtureBound } from './gamma-exponential-mixture.ts';

/**
 * Computes ln of the gamma-Poisson mixture supermartingale of a sub-Poisson sum s with variance process v and scale c.
 * The mixture is the mean of exp(lambda s - v psi(lambda)) with psi(lambda) = (e^(c lambda) - c lambda - 1) / c^2. In
 * this mean, e^(c lambda) has a gamma distribution of shape and rate rho / c^2, truncated below 1.
 * @param s the sum, any finite number
 * @param v at least 0
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021)
 * @example
 * ```ts
 * import { gammaPoissonLogMixture } from 'evenhand/stats';
 *
 * console.log(gammaPoissonLogMixture(10, 100, { vOpt: 100, c: 2 }).toFixed(4));
 * // -0.0699
 * ```
 */
export function gammaPoissonLogMixture(s: number, v: number, options: ScaledMixtureOptions): number {
  return scaledLogMixture('gammaPoissonLogMixture', logMixture, s, v, options);
}

/**
 * Computes a boundary at time v of the variance process. The probability that a sub-Poisson sum ever crosses the
 * boundary is at most alpha. The boundary is the sum at which the gamma-Poisson mixture reaches 1 / alpha.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al. (2021)
 * @example
 * ```ts
 * import { gammaPoissonMixtureBound } from 'evenhand/stats';
 *
 * console.log(gammaPoissonMixtureBound(100, 0.05, { vOpt: 100, c: 2 }).toFixed(4));
 * // 30.1949
 * ```
 */
export function gammaPoissonMixtureBound(v: number, alpha: number, options: ScaledMixtureOptions): number {
  return scaledMixtureBound('gammaPoissonMixtureBound', logMixture, v, alpha, options);
}

/**
 * With t = e^(c lambda), b = (v + rho) / c^2 and a = b + s / c, the integrand is t^(a - 1) e^(-b (t - 1)), and the
 * normalising constant of the distribution is the same integral at s = v = 0.
 */
function logMixture(s: number, v: number, c: number, rho: number): number {
  const shape = rho / (c * c);
  const b = v / (c * c) + shape;
  return logScaledUpperGamma(b + s / c, b) - logScaledUpperGamma(shape, shape);
}
