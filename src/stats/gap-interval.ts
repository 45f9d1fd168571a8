import type { Random } from '../internal/random.ts';
import { type GapFamily, gapRange, outermostFirst } from './gap-family.ts';
import { drawMaxT, largestNormal, largestT } from './max-t.ts';
import { estimateMeans, type MeanFamily } from './mean-family.ts';
import { criticalValue, normalCdf } from './normal.ts';
import type { Interval } from './proportion-interval.ts';
import { estimateLogRates, estimateRates, type LogRateFamily, type RateFamily } from './rate-family.ts';

/** Above so many groups the simultaneous bootstrap gives way to Bonferroni's bound. */
const MAX_GROUPS_TO_RESAMPLE = 64;

/** What (samples + 1) x level may be off by in float64: 1001 x 0.9 is not a whole number there. */
const ROUNDING = 1e-9;

/** What a gap interval may be told. */
export interface GapIntervalOptions {
  /** Confidence level in (0, 1). */
  readonly level: number;
  /** Bootstrap replicates. */
  readonly samples: number;
  readonly random: Random;
}

/** Intervals of the largest gap of each family, holding together at the level asked for. */
export interface GapIntervals {
  readonly intervals: readonly Interval[];
  readonly method: 'simultaneous' | 'bonferroni-agresti-caffo' | 'bonferroni-welch';
  /**
   * Of the hypothesis that all groups of every family are equal:
   * (1 + replicates with max |t*| >= the observed max |t|) / (samples + 1), or
   * for Bonferroni's bound pairs x the two-sided normal tail, at most 1.
   */
  readonly pValue: number;
}

/**
 * Intervals for the largest minus the smallest rate (or mean) of groups.
 *
 * A percentile bootstrap of a maximum minus a minimum cannot cover 0 when the
 * groups are equal. Here all pairwise differences d_ij get simultaneous
 * intervals d_ij -+ c se_ij instead, and the gap lies in
 * [max(0, largest lower end), largest upper end], clipped to the range allowed
 * and widened to contain the gap observed. c is the `level` quantile of
 * max |d*_ij - d_ij| / se*_ij over a parametric bootstrap, in which each
 * replicate's standard errors come from the replicate itself:
 *
 * - rates: binomial counts, centres and variances with one success and one
 *   failure added to every group (Agresti and Caffo 2000); normal under 10 trials;
 * - log rates: the same with half a success and half a failure;
 * - means: mean and variance of a sample of a gamma law with the group's moments,
 *   which brings in both Student's t and the skewness of the values.
 *
 * Several families (true and false positive rates, say) are covered together.
 * A replicate costs O(groups squared) and nothing in rows. Above 64 groups c is
 * Bonferroni's normal quantile (for means with sizes Welch's t).
 * `docs/coverage.md` shows how often these intervals hold the truth.
 * @param families each with one entry per group, no group without trials; at least two groups in one of them
 */
export function gapIntervals(
  families: readonly (RateFamily | LogRateFamily | MeanFamily)[],
  options: GapIntervalOptions,
): GapIntervals {
  const estimates = families.map((family) => estimate(family, options.random));
  const largest = Math.max(...estimates.map((family) => family.centres.length));
  return largest <= MAX_GROUPS_TO_RESAMPLE ? simultaneous(estimates, options) : bonferroni(estimates, options.level);
}

function estimate(family: RateFamily | LogRateFamily | MeanFamily, random: Random): GapFamily {
  if (family.kind === 'rates') return estimateRates(family, random);
  return family.kind === 'log-rates' ? estimateLogRates(family, random) : estimateMeans(family, random);
}

function simultaneous(families: readonly GapFamily[], { level, samples }: GapIntervalOptions): GapIntervals {
  const maxima = drawMaxT(families, samples);
  // At this place among samples + 1 the lower end is above 0 exactly where the p-value is at most 1 - level.
  const place = Math.min(samples, Math.ceil((samples + 1) * level - ROUNDING));
  const critical = selectSmallest(maxima, place - 1);
  const observed = Math.max(...families.map(({ centres, variances }) => largestT(centres, variances)));
  return {
    intervals: families.map((family) => gapRange(family, critical)),
    method: 'simultaneous',
    pValue: (1 + countAtLeast(maxima, observed)) / (samples + 1),
  };
}

function countAtLeast(values: Float64Array, least: number): number {
  let count = 0;
  for (let index = 0; index < values.length; index++) if ((values[index] as number) >= least) count++;
  return count;
}

function bonferroni(estimates: readonly GapFamily[], level: number): GapIntervals {
  // The widest pairs come first, so that nearly all others can be passed over at a glance.
  const families = estimates.map(outermostFirst);
  const pairs = families.reduce((sum, { centres: { length } }) => sum + (length * (length - 1)) / 2, 0);
  const critical = criticalValue(1 - (1 - level) / pairs);
  const observed = Math.max(...families.map(largestNormal));
  return {
    intervals: families.map((family) => gapRange(family, critical, family.degrees)),
    method: families.every(({ degrees }) => degrees !== undefined) ? 'bonferroni-welch' : 'bonferroni-agresti-caffo',
    // A tail too far for float64 is small, but not 0.
    pValue: Math.min(1, Math.max(Number.MIN_VALUE, pairs * 2 * normalCdf(-observed))),
  };
}

/**
 * The value at a place of the ascending order, counted from 0, without sorting the rest (Hoare 1961): O(n) on average.
 * @param values reordered on the way; none of them NaN
 */
function selectSmallest(values: Float64Array, place: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    // The middle one parts what is sorted already, or all equal, evenly.
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
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] as number;
}
