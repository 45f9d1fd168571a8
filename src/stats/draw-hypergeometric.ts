import type { Random } from '../internal/random.ts';
import { binomialProbability } from './binomial-probability.ts';
import { drawOutward } from './draw-outward.ts';
import { invalidParameter } from '../internal/invalid-parameter.ts';
import { requireWhole } from './parameters.ts';

/**
 * One draw from the hypergeometric distribution: the number of successes among
 * `draws` taken without replacement from `successes` and `failures`.
 *
 * By inversion from the mode outward, in O(standard deviation) steps and with no
 * table: for parameters that change with every draw. Exact to rounding.
 * @param successes whole, 0 or more
 * @param failures whole, 0 or more
 * @param draws whole, from 0 to successes + failures; all of them give all successes
 * @param random one number is taken, and none where the result is certain
 * @returns from max(0, draws - failures) to min(draws, successes)
 * @throws {ValueError} for counts that are not whole, and for more draws than there are
 * @see L. Devroye, Non-Uniform Random Variate Generation (1986), section III.2 (inversion from the mode)
 */
export function drawHypergeometric(successes: number, failures: number, draws: number, random: Random): number {
  requireWhole('successes', successes, 0);
  requireWhole('failures', failures, 0);
  requireWhole('draws', draws, 0);
  const total = successes + failures;
  if (draws > total) throw invalidParameter('draws', `be at most successes + failures = ${String(total)}`, draws);
  const first = Math.max(0, draws - failures);
  const last = Math.min(draws, successes);
  if (first === last) return first;
  const mode = Math.min(last, Math.max(first, Math.floor(((draws + 1) * (successes + 1)) / (total + 2))));
  return drawOutward(
    {
      first,
      last,
      mode,
      peak: hypergeometricProbability(mode, successes, failures, draws),
      ratioUp: (k) => ((successes - k) * (draws - k)) / ((k + 1) * (failures - draws + k + 1)),
      ratioDown: (k) => (k * (failures - draws + k)) / ((successes - k + 1) * (draws - k + 1)),
    },
    random,
  );
}

/**
 * C(s, k) C(f, d - k) / C(s + f, d), as a quotient of binomial probabilities at
 * any one rate (Loader 2000); at rate d / (s + f) all three are near their means.
 */
function hypergeometricProbability(k: number, successes: number, failures: number, draws: number): number {
  const total = successes + failures;
  const rate = draws / total;
  return (
    (binomialProbability(k, successes, rate) * binomialProbability(draws - k, failures, rate)) /
    binomialProbability(draws, total, rate)
  );
}
