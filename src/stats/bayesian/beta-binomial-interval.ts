import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { betaQuantile } from '../../vendor/special.ts';
import { requireCount, requireLevel, requireSuccesses } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';

/** Options of {@link betaBinomialInterval}. */
export interface BetaBinomialOptions {
  /**
   * The parameters of the beta prior, both above 0. [1, 1] is the flat prior, and [0.5, 0.5] is Jeffreys' prior.
   * @defaultValue [1, 1]
   */
  readonly prior?: readonly [alpha: number, beta: number];
  /**
   * The posterior probability of the interval, in (0, 1).
   * @defaultValue 0.95
   */
  readonly level?: number;
}

const BETA_BINOMIAL_OPTION_NAMES: OptionNames<BetaBinomialOptions> = { prior: true, level: true };

/**
 * Computes the equal-tailed credible interval of a proportion: the (1 - level)/2 and (1 + level)/2 quantiles of its
 * posterior Beta(alpha + k, beta + n - k).
 *
 * Unlike a Wilson interval, this interval excludes 0 even if there are no successes, and excludes 1 even if there are
 * no failures. The reason is that equal tails exclude some probability on both sides.
 * @param successes k, from 0 to `trials`; fractions are allowed (effective counts)
 * @param trials n; 0 gives [NaN, NaN], since there are no data
 * @throws {ValueError} if a count, the prior or the level is out of range
 * @see A. Gelman et al., Bayesian Data Analysis (2013), section 2.4
 * @example
 * ```ts
 * import { betaBinomialInterval } from 'evenhand/stats/bayesian';
 *
 * const [low, high] = betaBinomialInterval(3, 10);
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.1093 0.6097
 * ```
 */
export function betaBinomialInterval(successes: number, trials: number, options: BetaBinomialOptions = {}): Interval {
  assertKnownOptions('betaBinomialInterval', options, BETA_BINOMIAL_OPTION_NAMES);
  const { prior = [1, 1], level = 0.95 } = options;
  requireCount('trials', trials);
  requireSuccesses('successes', successes, 'trials', trials);
  requireLevel('level', level);
  const [alpha, beta] = prior;
  if (!(alpha > 0 && beta > 0 && alpha + beta < Infinity)) {
    throw invalidParameter('prior', 'be two finite numbers above 0', `[${String(alpha)}, ${String(beta)}]`);
  }
  if (trials === 0) return Object.freeze<Interval>([NaN, NaN]);
  const tail = (1 - level) / 2;
  const [a, b] = [alpha + successes, beta + trials - successes];
  return Object.freeze<Interval>([betaQuantile(tail, a, b), betaQuantile(1 - tail, a, b)]);
}
