import type { Random } from '../internal/random.ts';
import { type GapFamily, gapRange, outermostFirst } from './gap-family.ts';
import { drawMaxT, largestNormal, largestT } from './max-t.ts';
import { estimateMeans, type MeanFamily } from './mean-family.ts';
import { criticalValue, normalCdf } from './normal.ts';
import type { Interval } from './proportion-interval.ts';
import { estimateRates, type RateFamily } from './rate-family.ts';

/**
 * The largest number of groups for the simultaneous bootstrap. If there are more groups, Bonferroni's bound is used.
 */
export const MAX_GROUPS_TO_RESAMPLE = 64;

/** The tolerance for rounding errors of (samples + 1) x level in float64. For example, 1001 x 0.9 is not exact. */
const ROUNDING = 1e-9;

/** Options of {@link gapIntervals}. */
export interface GapIntervalOptions {
  /** Confidence level in (0, 1). */
  readonly level: number;
  /** The number of bootstrap replicates. */
  readonly samples: number;
  readonly random: Random;
}

/**
 * Intervals of the largest gap of each family. The probability that all intervals contain their true gaps is the given
 * level.
 */
export interface GapIntervals {
  readonly intervals: readonly Interval[];
  readonly method:
    | 'simultaneous'
    | 'bonferroni-agresti-caffo'
    | 'bonferroni-welch'
    | 'cluster-t'
    | 'cluster-max-t'
    | 'bonferroni-cluster-t';
  /**
   * The p-value of the hypothesis that all groups of every family are equal: (1 + the number of replicates with max
   * |t*| >= the observed max |t|) / (samples + 1). With Bonferroni's bound, it is the number of pairs times the
   * two-sided normal tail, at most 1.
   */
  readonly pValue: number;
}

/**
 * Computes intervals for the gap between groups: the largest minus the smallest rate (or mean).
 *
 * A percentile bootstrap of a maximum minus a minimum cannot cover 0 if the groups are equal. Therefore simultaneous
 * intervals d_ij ± c se_ij are computed for all pairwise differences d_ij. The gap lies in [max(0, largest lower end),
 * largest upper end], clipped to the allowed range and widened to contain the observed gap. c is the `level` quantile
 * of max |d*_ij - d_ij| / se*_ij over a parametric bootstrap, in which the standard errors of each replicate are
 * computed from that replicate:
 *
 * - rates: binomial counts, with one success and one failure added to every group for the centres and variances
 *   (Agresti and Caffo 2000); a normal distribution for fewer than 10 trials;
 * - log rates: the same method as for rates, but half a success and half a failure are added;
 * - means: mean and variance of a sample from a gamma distribution with the group's moments, which accounts for both
 *   Student's t and the skewness of the values.
 *
 * The level applies to the intervals of all families together, for example of true and false positive rates. The cost
 * of a replicate is O(groups squared), independent of the number of rows. With more than 64 groups, c is Bonferroni's
 * normal quantile, or Welch's t for means whose group sizes are given. `docs/coverage.md` reports how often these
 * intervals contain the true gap.
 * @param families families with one entry per group; every group must have trials, and at least one family must have
 *   two groups
 */
export function gapIntervals(
  families: readonly (RateFamily | MeanFamily)[],
  options: GapIntervalOptions,
): GapIntervals {
  const estimates = families.map((family) =>
    family.kind === 'means' ? estimateMeans(family, options.random) : estimateRates(family, options.random),
  );
  const largest = Math.max(...estimates.map((family) => family.centres.length));
  return largest <= MAX_GROUPS_TO_RESAMPLE ? simultaneous(estimates, options) : bonferroni(estimates, options.level);
}

function simultaneous(families: readonly GapFamily[], { level, samples, random }: GapIntervalOptions): GapIntervals {
  const maxima = drawMaxT(families, samples, random);
  const observed = Math.max(...families.map(({ centres, variances }) => largestT(centres, variances)));
  const { critical, pValue } = rankedCritical(maxima, level, observed);
  return { intervals: families.map((family) => gapRange(family, critical)), method: 'simultaneous', pValue };
}

/**
 * Returns the `level` quantile of drawn maxima, and the p-value of the observed maximum. The lower end of an interval with
 * this quantile is positive if and only if the p-value is at most 1 - level.
 * @param maxima the drawn maxima; they are reordered in place
 */
export function rankedCritical(
  maxima: Float64Array,
  level: number,
  observed: number,
): { readonly critical: number; readonly pValue: number } {
  const samples = maxima.length;
  const index = Math.min(samples, Math.ceil((samples + 1) * level - ROUNDING));
  const critical = selectSmallest(maxima, index - 1);
  return { critical, pValue: (1 + countAtLeast(maxima, observed)) / (samples + 1) };
}

function countAtLeast(values: Float64Array, min: number): number {
  let count = 0;
  for (let index = 0; index < values.length; index++) if ((values[index] as number) >= min) count++;
  return count;
}

function bonferroni(estimates: readonly GapFamily[], level: number): GapIntervals {
  // The pairs with the largest gaps come first, so that nearly all other pairs can be skipped quickly.
  const families = estimates.map(outermostFirst);
  const pairs = families.reduce((sum, { centres: { length } }) => sum + (length * (length - 1)) / 2, 0);
  const critical = criticalValue(1 - (1 - level) / pairs);
  const observed = Math.max(...families.map(largestNormal));
  return {
    intervals: families.map((family) => gapRange(family, critical, family.degrees)),
    method: families.every(({ degrees }) => degrees !== undefined) ? 'bonferroni-welch' : 'bonferroni-agresti-caffo',
    // A tail probability may be too small for float64, but it is never 0.
    pValue: Math.min(1, Math.max(Number.MIN_VALUE, pairs * 2 * normalCdf(-observed))),
  };
}

/**
 * Returns the value at an index of the sorted order without sorting all values (quickselect, Hoare 1961). O(n) on
 * average.
 * @param values the values, without NaN; they are reordered in place
 */
function selectSmallest(values: Float64Array, index: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    // With the middle element as pivot, sorted or constant input is split into equal halves.
    const pivot = values[(low + high) >> 1] as number;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) < pivot) left++;
      while ((values[right] as number) > pivot) right--;
      if (left > right) break;
      const value = values[left] as number;
      values[left++] = values[right] as number;
      values[right--] = value;
    }
    if (index <= right) high = right;
    else if (index >= left) low = left;
    else break;
  }
  return values[index] as number;
}
