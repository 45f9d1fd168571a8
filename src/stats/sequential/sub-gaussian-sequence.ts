import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireCount, requireLevel, requireSuccesses } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';
import { twoSidedNormalBestRho } from './mixture-parameters.ts';
import { twoSidedNormalBound } from './normal-mixture.ts';

/** The sums of weighted decisions seen so far. */
export interface WeightedShareState {
  /** The sum of the weights w. */
  readonly sumW: number;
  /** The sum of w d, where d is the decision in [0, 1]. */
  readonly sumWD: number;
  /** The sum of w^2. */
  readonly sumW2: number;
}

/** Options of {@link subGaussianSequence}. */
export interface SubGaussianOptions {
  /**
   * The sum of w^2 / 4 at which the interval is tightest, above 0. The default is suitable for 1,000 rows with weights
   * of about 1. For other weights, multiply the default by the mean square of the weights. Choose it before you see the
   * data.
   * @defaultValue 250
   */
  readonly vOpt?: number;
}

const SUB_GAUSSIAN_OPTION_NAMES: OptionNames<SubGaussianOptions> = { vOpt: true };

/**
 * Computes the anytime-valid interval of a weighted rate p = sum w d / sum w. If decisions d in [0, 1] have mean p
 * given their weights, then sum w (d - p) is sub-Gaussian with the variance process V = sum w^2 / 4. The interval is
 * therefore the weighted rate ± the two-sided normal mixture boundary at V, divided by sum w.
 *
 * The probability that the intervals at all times contain p is at least 1 - alpha, provided that each decision has the
 * mean p given its weight and all earlier decisions. A weight may depend on earlier decisions, but not on the decision
 * that it applies to. Rates near 0 or 1 have a lower variance, but the interval does not use this fact. If there are no
 * weights, the interval of `betaBinomialSequence` is narrower.
 * @param state the sums; if the sum of weights is 0, the interval is [0, 1]
 * @param alpha the probability that any interval of the sequence misses the rate, in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021); W. Hoeffding (1963)
 *   for the variance
 * @example
 * ```ts
 * import { subGaussianSequence } from 'evenhand/stats';
 *
 * const [low, high] = subGaussianSequence({ sumW: 1000, sumWD: 300, sumW2: 1000 }, 0.05);
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.2520 0.3480
 * ```
 */
export function subGaussianSequence(
  { sumW, sumWD, sumW2 }: WeightedShareState,
  alpha: number,
  options: SubGaussianOptions = {},
): Interval {
  assertKnownOptions('subGaussianSequence', options, SUB_GAUSSIAN_OPTION_NAMES);
  const { vOpt = 250 } = options;
  requireCount('sumW', sumW);
  requireSuccesses('sumWD', sumWD, 'sumW', sumW);
  requireCount('sumW2', sumW2);
  requireLevel('alpha', alpha);
  const rho = twoSidedNormalBestRho(vOpt, alpha);
  if (sumW === 0) return Object.freeze<Interval>([0, 1]);
  if (sumW2 === 0) throw invalidParameter('sumW2', 'be above 0 if sumW is above 0', sumW2);
  const rate = sumWD / sumW;
  const half = twoSidedNormalBound(sumW2 / 4, alpha, rho) / sumW;
  return Object.freeze<Interval>([Math.max(0, rate - half), Math.min(1, rate + half)]);
}
