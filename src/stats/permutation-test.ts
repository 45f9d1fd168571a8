import type { Random } from '../internal/random.ts';
import { drawHypergeometric } from './draw-hypergeometric.ts';
import { invalidParameter } from '../internal/invalid-parameter.ts';
import { requireWhole } from './parameters.ts';

/** What a replicate may lie below the observed statistic by rounding alone. */
const ROUNDING = 1e-12;

/** Whole counts per group within one stratum, such as the rows of one true label. */
export interface PermutationStratum {
  readonly successes: ArrayLike<number>;
  readonly trials: ArrayLike<number>;
}

/** What a permutation test may be told. */
export interface PermutationOptions {
  /** Replicates; the smallest p value is 1 / (samples + 1). */
  readonly samples: number;
  readonly random: Random;
}

/**
 * The p value of a statistic of the groups' success counts when, within every
 * stratum, group membership has nothing to do with success: (1 + hits) / (samples + 1),
 * hits being the replicates whose statistic is at least the observed one.
 *
 * Permuting the group labels of the rows within a stratum draws the groups'
 * successes from the multivariate hypergeometric distribution given the
 * stratum's total, so a replicate costs O(groups) draws and nothing in rows.
 * The test is exact for any statistic, up to the error of sampling.
 *
 * A statistic that is NaN on the observed counts gives NaN; one that is NaN on a
 * replicate counts as a hit, so that it cannot lower the p value.
 * @param strata each with one entry per group; no stratum, or equal groups only, give 1
 * @param statistic larger where groups differ more; it is given the successes of
 *   each stratum (outer) and group (inner), in arrays that are used again: copy what is kept
 * @throws {ValueError} for counts that are not whole, successes above their trials, or no samples
 * @see P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses (2005); for the 1 in both places,
 *   B. Phipson and G. Smyth, Permutation p-values should never be zero (2010)
 */
export function permutationPValue(
  strata: readonly PermutationStratum[],
  statistic: (successes: readonly Float64Array[]) => number,
  { samples, random }: PermutationOptions,
): number {
  requireWhole('samples', samples, 1);
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
    // Not below, rather than at least: an undefined replicate is a hit.
    if (!(statistic(successes) < observed - ROUNDING)) hits++;
  }
  return (1 + hits) / (samples + 1);
}

/** Shares a stratum's successes out again: each group in turn draws its trials from those that are left. */
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
  const place = `in stratum ${String(stratum)}`;
  if (successes.length !== trials.length) {
    const given = `${String(successes.length)} and ${String(trials.length)} ${place}`;
    throw invalidParameter('strata', 'be strata with as many successes as trials', given);
  }
  for (let group = 0; group < trials.length; group++) {
    const k = successes[group] as number;
    const n = trials[group] as number;
    if (Number.isSafeInteger(k) && Number.isSafeInteger(n) && k >= 0 && k <= n) continue;
    const given = `${String(k)} in ${String(n)} for group ${String(group)} ${place}`;
    throw invalidParameter('strata', 'be strata of whole successes from 0 to their whole trials', given);
  }
}
