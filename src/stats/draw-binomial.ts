import type { Random } from '../internal/random.ts';
import { binomialProbability, drawOutward } from './draw-outward.ts';
import { requireRate, requireInteger } from './parameters.ts';

/**
 * Draws once from the binomial distribution B(n, p): the number of successes in n trials at rate p.
 *
 * The function uses inversion from the mode outward, which takes O(sqrt(n p (1 - p))) steps and needs no table. The
 * function is intended for parameters that change with every draw. For many draws with the same parameters,
 * `createBinomialSampler` is faster. The draw is exact up to rounding.
 * @param trials n, an integer of 0 or more. If n is 0, the result is 0
 * @param rate p, from 0 to 1. If p is 0, the result is 0; if p is 1, the result is n
 * @param random the generator; each call draws one number, or none if the result is certain
 * @throws {ValueError} if trials is not an integer or the rate is outside [0, 1]
 * @see L. Devroye, Non-Uniform Random Variate Generation (1986), section III.2 (inversion from the mode)
 */
export function drawBinomial(trials: number, rate: number, random: Random): number {
  requireInteger('trials', trials, 0);
  requireRate('rate', rate);
  if (trials === 0 || rate === 0) return 0;
  if (rate === 1) return trials;
  const odds = rate / (1 - rate);
  const mode = Math.min(trials, Math.floor((trials + 1) * rate));
  return drawOutward(
    {
      first: 0,
      last: trials,
      mode,
      peak: binomialProbability(mode, trials, rate),
      ratioUp: (k) => ((trials - k) * odds) / (k + 1),
      ratioDown: (k) => k / ((trials - k + 1) * odds),
    },
    random,
  );
}
