import { invalidParameter } from '../internal/arguments.ts';
import type { Random } from '../internal/random.ts';
import { binomialProbability, drawOutward } from './draw-outward.ts';
import { requireInteger } from './parameters.ts';

/** An upper bound on the rounding error of a statistic. */
const ROUNDING = 1e-12;

/** Integer counts for each group within one stratum, for example the rows with one true label. */
export interface PermutationStratum {
  readonly successes: ArrayLike<number>;
  readonly trials: ArrayLike<number>;
}

/** Options of {@link permutationPValue}. */
export interface PermutationOptions {
  /** The number of replicates. The smallest possible p-value is 1 / (samples + 1). */
  readonly samples: number;
  readonly random: Random;
}

/**
 * Computes the p-value of a statistic of the groups' success counts under the hypothesis that, within every stratum,
 * success is independent of the group. The p-value is (1 + hits) / (samples + 1), where hits is the number of
 * replicates whose statistic is at least the observed statistic.
 *
 * Permuting the group labels within a stratum is equivalent to drawing the groups' successes from a multivariate
 * hypergeometric distribution with the stratum's total. A replicate therefore costs O(groups) draws, independent of the
 * number of rows. The test is exact for any statistic, up to Monte Carlo error.
 *
 * If the statistic of the observed counts is NaN, the result is NaN. A replicate whose statistic is NaN counts as a
 * hit, so that it cannot lower the p-value.
 * @param strata strata with one entry per group; the result is 1 if there are no strata or all groups are equal
 * @param statistic a function that returns a larger value if groups differ more. The function receives the successes of
 *   each stratum (outer) and group (inner). The arrays are reused: copy the values that you want to keep
 * @throws {ValueError} if a count is not an integer, successes exceed trials, or `samples` is less than 1
 * @see P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses (2005); for the added 1, B. Phipson and G.
 *   Smyth, Permutation p-values should never be zero (2010)
 */
export function permutationPValue(
  strata: readonly PermutationStratum[],
  statistic: (successes: readonly Float64Array[]) => number,
  { samples, random }: PermutationOptions,
): number {
  requireInteger('samples', samples, 1);
  strata.forEach(requireCounts);
  const successes = strata.map((stratum) => Float64Array.from(stratum.successes));
  const totals = successes.map((counts) => counts.reduce((sum, count) => sum + count, 0));
  const observed = statistic(successes);
  if (Number.isNaN(observed)) return NaN;
  let hits = 0;
  for (let sample = 0; sample < samples; sample++) {
    strata.forEach(({ trials }, index) => {
      permuteStratum(successes[index] as Float64Array, trials, totals[index] as number, random);
    });
    // The negated comparison counts a NaN replicate as a hit.
    if (!(statistic(successes) < observed - ROUNDING)) hits++;
  }
  return (1 + hits) / (samples + 1);
}

/** Randomly redistributes the successes of a stratum. Each group in turn draws its trials from the remaining trials. */
function permuteStratum(into: Float64Array, trials: ArrayLike<number>, successes: number, random: Random): void {
  let leftSuccesses = successes;
  let left = 0;
  for (let group = 0; group < into.length; group++) left += trials[group] as number;
  for (let group = 0; group < into.length; group++) {
    const size = trials[group] as number;
    const drawn = drawHypergeometric(leftSuccesses, left - leftSuccesses, size, random);
    into[group] = drawn;
    leftSuccesses -= drawn;
    left -= size;
  }
}

function requireCounts({ successes, trials }: PermutationStratum, stratum: number): void {
  const location = `in stratum ${String(stratum)}`;
  if (successes.length !== trials.length) {
    const given = `${String(successes.length)} and ${String(trials.length)} ${location}`;
    throw invalidParameter('strata', 'be strata with the same number of entries for successes and trials', given);
  }
  for (let group = 0; group < trials.length; group++) {
    const k = successes[group] as number;
    const n = trials[group] as number;
    if (Number.isSafeInteger(k) && Number.isSafeInteger(n) && k >= 0 && k <= n) continue;
    const given = `${String(k)} in ${String(n)} for group ${String(group)} ${location}`;
    throw invalidParameter(
      'strata',
      'be strata with integer counts, and successes from 0 to the number of trials',
      given,
    );
  }
}

/**
 * Draws once from the hypergeometric distribution: the number of successes among `draws` taken without replacement from
 * `successes` and `failures`.
 *
 * The function uses inversion from the mode outward, which takes O(standard deviation) steps and needs no table. The
 * function is intended for parameters that change with every draw. The draw is exact up to rounding.
 * @param successes an integer of 0 or more
 * @param failures an integer of 0 or more
 * @param draws an integer from 0 to successes + failures; drawing all returns all successes
 * @param random the generator; each call draws one number, or none if the result is certain
 * @returns from max(0, draws - failures) to min(draws, successes)
 * @throws {ValueError} if a count is not an integer, or draws exceed successes + failures
 * @see L. Devroye, Non-Uniform Random Variate Generation (1986), section III.2 (inversion from the mode)
 */
export function drawHypergeometric(successes: number, failures: number, draws: number, random: Random): number {
  requireInteger('successes', successes, 0);
  requireInteger('failures', failures, 0);
  requireInteger('draws', draws, 0);
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
 * Computes C(s, k) C(f, d - k) / C(s + f, d) as a quotient of binomial probabilities, which is valid for any common
 * rate (Loader 2000). With the rate d / (s + f), all three counts are near their means.
 */
function hypergeometricProbability(k: number, successes: number, failures: number, draws: number): number {
  const total = successes + failures;
  const rate = draws / total;
  return (
    (binomialProbability(k, successes, rate) * binomialProbability(draws - k, failures, rate)) /
    binomialProbability(draws, total, rate)
  );
}
