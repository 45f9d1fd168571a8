import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { betainc } from '../../vendor/special.ts';
import { stirlingError } from '../stirling-error.ts';
import { mixtureBound } from './mixture-bound.ts';
import {
  MIXTURE_OPTION_NAMES,
  type MixtureOptions,
  requirePositive,
  requireSumAndTime,
  requireTimeAndLevel,
  rhoFrom,
} from './mixture-parameters.ts';

/**
 * The lower limit of the tuning parameter as a share of g h. This limit ensures that the prior is a probability
 * distribution.
 */
const MIN_TUNING = 1e-3;

/** Options of the beta-binomial mixture. */
export interface BetaBinomialMixtureOptions extends MixtureOptions {
  /** The maximum distance of a value below its mean, a number above 0. */
  readonly g: number;
  /** The maximum distance of a value above its mean, a number above 0. */
  readonly h: number;
  /**
   * Whether the boundary is only on one side of 0. If it is false, there are boundaries on both sides of 0, at the same
   * alpha.
   * @defaultValue true
   */
  readonly oneSided?: boolean;
}

const BETA_BINOMIAL_MIXTURE_OPTION_NAMES: OptionNames<BetaBinomialMixtureOptions> = {
  ...MIXTURE_OPTION_NAMES,
  g: true,
  h: true,
  oneSided: true,
};

/**
 * Computes ln of the beta-binomial mixture supermartingale of a sub-Bernoulli sum s with variance process v. The worst
 * case for errors between -g and h is a sum of values that are -g or h and have mean 0. The likelihood ratio of this
 * sum is averaged over a beta distribution of the probability of h. The distribution is centred at g / (g + h). For a
 * one-sided boundary, it is truncated at this point.
 *
 * For n outcomes of 0 or 1 with rate p and S successes: g = p, h = 1 - p, s = S - n p and v = n p (1 - p).
 * @param s the sum, from -v / h to v / g
 * @param v at least 0
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021)
 * @example
 * ```ts
 * import { betaBinomialLogMixture } from 'evenhand/stats';
 *
 * const ratio = betaBinomialLogMixture(10, 100, { vOpt: 100, g: 0.2, h: 0.8, oneSided: false });
 * console.log(ratio.toFixed(4));
 * // -0.6941
 * ```
 */
export function betaBinomialLogMixture(s: number, v: number, options: BetaBinomialMixtureOptions): number {
  assertKnownOptions('betaBinomialLogMixture', options, BETA_BINOMIAL_MIXTURE_OPTION_NAMES);
  requireSumAndTime(s, v);
  const mixture = mixtureFrom(options);
  if (!(s >= -v / options.h && s <= v / options.g)) {
    throw invalidParameter('s', `lie from -v / h = ${String(-v / options.h)} to v / g = ${String(v / options.g)}`, s);
  }
  return logMixture(s, v, mixture);
}

/**
 * Computes a boundary at time v of the variance process. The probability that a sub-Bernoulli sum ever crosses the
 * boundary is at most alpha. For two sides, the function returns the upper boundary. The boundary is the sum at which
 * the beta-binomial mixture reaches 1 / alpha. If the mixture does not reach 1 / alpha, the boundary is v / g, which
 * the sum cannot exceed.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard et al. (2021)
 * @example
 * ```ts
 * import { betaBinomialMixtureBound } from 'evenhand/stats';
 *
 * console.log(betaBinomialMixtureBound(100, 0.05, { vOpt: 100, g: 0.2, h: 0.8 }).toFixed(4));
 * // 28.4124
 * ```
 */
export function betaBinomialMixtureBound(v: number, alpha: number, options: BetaBinomialMixtureOptions): number {
  assertKnownOptions('betaBinomialMixtureBound', options, BETA_BINOMIAL_MIXTURE_OPTION_NAMES);
  requireTimeAndLevel(v, alpha);
  const mixture = mixtureFrom(options);
  return mixtureBound((s) => logMixture(s, v, mixture), alpha, Math.sqrt(v + mixture.rho), v / options.g);
}

/** A mixture with its computed tuning parameter. */
interface BetaBinomialMixture {
  readonly g: number;
  readonly h: number;
  readonly rho: number;
  readonly oneSided: boolean;
}

/**
 * Computes ln of the mixture at a sum and a time. With the weights A and B of the beta posterior, and N = A + B, ln
 * B(A, B) - A ln p - B ln(1 - p) at p = g / (g + h) is N KL(A / N, p) by Stirling's formula, up to small terms. The
 * arguments of KL differ only by s / (g + h), so no large terms are subtracted.
 */
export function logMixture(s: number, v: number, { g, h, rho, oneSided }: BetaBinomialMixture): number {
  const min = Math.max(rho - g * h, MIN_TUNING * g * h);
  const above = (min + v + h * s) / (h * (g + h));
  const below = (min + v - g * s) / (g * (g + h));
  const [priorAbove, priorBelow] = [min / (h * (g + h)), min / (g * (g + h))];
  const shift = s / (g + h);
  const divergence = -above * Math.log1p(-shift / above) - below * Math.log1p(shift / below);
  const complete = divergence + smallTerms(above, below) - smallTerms(priorAbove, priorBelow);
  if (!oneSided) return complete;
  const cut = h / (g + h);
  return complete + Math.log(betainc(cut, below, above)) - Math.log(betainc(cut, priorBelow, priorAbove));
}

/** Returns ln B(a, b) without the terms that grow with a and b. */
function smallTerms(a: number, b: number): number {
  return Math.log((a + b) / a / b) / 2 + stirlingError(a) + stirlingError(b) - stirlingError(a + b);
}

function mixtureFrom(options: BetaBinomialMixtureOptions): BetaBinomialMixture {
  const { g, h, oneSided = true } = options;
  requirePositive('g', g);
  requirePositive('h', h);
  return { g, h, rho: rhoFrom(options, oneSided ? 1 : 2), oneSided };
}
