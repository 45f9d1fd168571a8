import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireCount, requireLevel, requireRate, requireInteger } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';
import { gammaExponentialMixtureBound } from './gamma-exponential-mixture.ts';

/** The statistics of values in [0, 1] seen so far. */
export interface BoundedMeanState {
  /** The number of values. */
  readonly n: number;
  /** The mean of the values, in [0, 1]; ignored if n is 0. */
  readonly mean: number;
  /**
   * The sum of (x_i - xhat_i)^2, where xhat_i in [0, 1] was set before x_i was seen. The usual choice is the mean of
   * the earlier values, and 1/2 for the first value.
   */
  readonly predictableVariance: number;
}

/** Options of {@link empiricalBernsteinSequence}. */
export interface EmpiricalBernsteinOptions {
  /**
   * The predictable variance at which the interval is tightest, above 0. The default is suitable for about 100 values
   * with standard deviation 0.3. Choose it before you see the data.
   * @defaultValue 10
   */
  readonly vOpt?: number;
}

const EMPIRICAL_BERNSTEIN_OPTION_NAMES: OptionNames<EmpiricalBernsteinOptions> = { vOpt: true };

/**
 * Computes the anytime-valid interval of the mean of values in [0, 1]. The width of the interval adapts to the variance
 * of the values. The interval is the mean ± u(V) / n, where u is the gamma-exponential mixture boundary of scale 1 at
 * alpha / 2, and V is the predictable variance.
 *
 * The probability that the intervals at all n contain the mean is at least 1 - alpha. The values need not be
 * independent or identically distributed: it is sufficient that each value has the same mean, given all earlier values.
 * (If the means change, the intervals contain their running average.) Scale other values to [0, 1] with bounds that are
 * known in advance, not with the smallest and the largest observed value.
 * @param state the statistics of the values; with n = 0, the interval is [0, 1]
 * @param alpha the probability that any interval of the sequence misses the mean, in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021), theorem 4
 * @example
 * ```ts
 * import { empiricalBernsteinSequence } from 'evenhand/stats';
 *
 * const [low, high] = empiricalBernsteinSequence({ n: 400, mean: 0.2, predictableVariance: 4 }, 0.05);
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.1766 0.2234
 * ```
 */
export function empiricalBernsteinSequence(
  { n, mean, predictableVariance }: BoundedMeanState,
  alpha: number,
  options: EmpiricalBernsteinOptions = {},
): Interval {
  assertKnownOptions('empiricalBernsteinSequence', options, EMPIRICAL_BERNSTEIN_OPTION_NAMES);
  const { vOpt = 10 } = options;
  requireInteger('n', n, 0);
  requireCount('predictableVariance', predictableVariance);
  requireLevel('alpha', alpha);
  if (n === 0) return Object.freeze<Interval>([0, 1]);
  requireRate('mean', mean);
  if (predictableVariance > n) {
    throw invalidParameter('predictableVariance', `be at most n = ${String(n)}`, predictableVariance);
  }
  const side = alpha / 2;
  const half = gammaExponentialMixtureBound(predictableVariance, side, { vOpt, c: 1, alphaOpt: side }) / n;
  return Object.freeze<Interval>([Math.max(0, mean - half), Math.min(1, mean + half)]);
}
