import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel, requireSuccesses, requireInteger } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';
import { logMixture } from './beta-binomial-mixture.ts';
import { rootBetween } from './mixture-bound.ts';
import { type MixtureOptions, rhoFrom } from './mixture-parameters.ts';

/** The smallest distance from 0 and 1 at which the search looks for an end of the interval. */
const NEAREST = 1e-15;

/** Options of {@link bernoulliConfidenceInterval}. */
export interface BernoulliIntervalOptions {
  /** The number of trials at which the interval is tightest. This number must be above 0. */
  readonly tOpt: number;
  /**
   * The error rate for which the interval is tuned, in (0, 1).
   * @defaultValue 0.05
   */
  readonly alphaOpt?: number;
}

const BERNOULLI_INTERVAL_OPTION_NAMES: OptionNames<BernoulliIntervalOptions> = { tOpt: true, alphaOpt: true };

/**
 * Computes an anytime-valid interval of one rate that is tightest near a number of trials chosen in advance. The
 * interval consists of the rates p at which the two-sided beta-binomial mixture with g = p, h = 1 - p and vOpt = tOpt p
 * (1 - p) stays at or below 1 / alpha.
 *
 * The probability that all intervals over time contain the rate is at least 1 - alpha. With fewer than about tOpt / 10
 * trials, the interval is wider than the interval of `betaBinomialSequence`, which does not require tOpt. With about
 * tOpt trials, it is narrower than that interval.
 * @param successes from 0 to `trials`
 * @param trials an integer; 0 gives [0, 1]
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021), section 4
 * @example
 * ```ts
 * import { bernoulliConfidenceInterval } from 'evenhand/stats';
 *
 * const [low, high] = bernoulliConfidenceInterval(700, 1000, 0.05, { tOpt: 100 });
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.6516 0.7459
 * ```
 */
export function bernoulliConfidenceInterval(
  successes: number,
  trials: number,
  alpha: number,
  options: BernoulliIntervalOptions,
): Interval {
  assertKnownOptions('bernoulliConfidenceInterval', options, BERNOULLI_INTERVAL_OPTION_NAMES);
  const { tOpt, alphaOpt = 0.05 } = options;
  requireInteger('trials', trials, 0);
  requireSuccesses('successes', successes, 'trials', trials);
  requireLevel('alpha', alpha);
  const unit = rhoFrom({ vOpt: tOpt, alphaOpt } satisfies MixtureOptions, 2);
  const rate = successes / trials;
  const excess = (p: number): number => {
    const variance = p * (1 - p);
    const mixture = { g: p, h: 1 - p, rho: unit * variance, oneSided: false };
    return logMixture(successes - trials * p, trials * variance, mixture) - Math.log(1 / alpha);
  };
  const end = (limit: number, near: number): number => {
    // With at most one outcome on this side, the mixture stays bounded up to the limit.
    if (trials === 0 || rate === limit || !(excess(near) > 0)) return limit;
    return rootBetween(excess, near, rate);
  };
  return Object.freeze<Interval>([end(0, NEAREST), end(1, 1 - NEAREST)]);
}
