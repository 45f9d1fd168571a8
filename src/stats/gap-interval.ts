import type { Random } from '../internal/random.ts';
import { createBinomialSampler } from './binomial-sampler.ts';
import { criticalValue } from './normal-quantile.ts';
import type { Interval } from './proportion-interval.ts';
import { quantileSorted } from './quantile.ts';

/** Above so many groups the simultaneous bootstrap gives way to Bonferroni's bound. */
const MOST_GROUPS_TO_RESAMPLE = 64;

/** Rates of several groups: successes of trials, which may be effective (fractional) counts. */
export interface RateFamily {
  readonly kind: 'rates';
  readonly successes: ArrayLike<number>;
  readonly trials: ArrayLike<number>;
}

/** Means of several groups with their standard errors. */
export interface MeanFamily {
  readonly kind: 'means';
  readonly means: ArrayLike<number>;
  readonly standardErrors: ArrayLike<number>;
}

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
  readonly method: 'simultaneous' | 'bonferroni-agresti-caffo';
}

/**
 * Intervals for the largest minus the smallest rate (or mean) of groups.
 *
 * A percentile bootstrap of a maximum minus a minimum cannot cover 0 when the
 * groups are equal. Here all pairwise differences d_ij get simultaneous
 * intervals d_ij -+ c se_ij instead, with c the `level` quantile of
 * max |d*_ij - d_ij| / se*_ij over a parametric bootstrap of the counts, and
 * the gap lies in [max(0, largest lower end), largest upper end]. Standard
 * errors carry the small-count correction of Agresti and Caffo (2000): one
 * success and one failure are added to every group. Several families (true and
 * false positive rates, say) are covered together.
 *
 * A replicate costs O(groups squared) and nothing in rows; above 64 groups c is
 * Bonferroni's normal quantile.
 * @param families each with one entry per group; at least two groups in one of them
 */
export function gapIntervals(
  families: readonly (RateFamily | MeanFamily)[],
  options: GapIntervalOptions,
): GapIntervals {
  const estimates = families.map((family) => estimate(family, options.random));
  const largest = Math.max(...estimates.map((family) => family.centres.length));
  const resampled = largest <= MOST_GROUPS_TO_RESAMPLE;
  const critical = resampled ? bootstrapCritical(estimates, options) : bonferroniCritical(estimates, options.level);
  return {
    intervals: estimates.map((family) => gapRange(family, critical)),
    method: resampled ? 'simultaneous' : 'bonferroni-agresti-caffo',
  };
}

/** A family reduced to what the interval needs: centres, variances, a way to draw again, the range allowed. */
interface Estimate {
  readonly centres: Float64Array;
  readonly variances: Float64Array;
  readonly point: number;
  readonly ceiling: number;
  /** Draws a replicate's centres and variances into the given arrays. */
  draw(centres: Float64Array, variances: Float64Array): void;
}

function estimate(family: RateFamily | MeanFamily, random: Random): Estimate {
  return family.kind === 'rates' ? estimateRates(family, random) : estimateMeans(family, random);
}

function estimateRates({ successes, trials }: RateFamily, random: Random): Estimate {
  const groups = trials.length;
  const centres = new Float64Array(groups);
  const variances = new Float64Array(groups);
  const rates = new Float64Array(groups);
  const wholeTrials = new Float64Array(groups);
  for (let g = 0; g < groups; g++) {
    const k = successes[g] as number;
    const n = trials[g] as number;
    rates[g] = k / n;
    wholeTrials[g] = Math.max(1, Math.round(n));
    centres[g] = (k + 1) / (n + 2);
    variances[g] = rateVariance(centres[g] as number, n);
  }
  const samplers = Array.from(wholeTrials, (n, g) => createBinomialSampler(n, centres[g] as number, random));
  return {
    centres,
    variances,
    point: spread(rates),
    ceiling: 1,
    draw(intoCentres, intoVariances) {
      samplers.forEach((draw, g) => {
        const n = wholeTrials[g] as number;
        const rate = (draw() + 1) / (n + 2);
        intoCentres[g] = rate;
        intoVariances[g] = rateVariance(rate, n);
      });
    },
  };
}

function rateVariance(rate: number, trials: number): number {
  return (rate * (1 - rate)) / (trials + 2);
}

function estimateMeans({ means, standardErrors }: MeanFamily, random: Random): Estimate {
  const centres = Float64Array.from(means);
  const variances = Float64Array.from(standardErrors, (error) => error * error);
  return {
    centres,
    variances,
    point: spread(centres),
    ceiling: Infinity,
    draw(intoCentres, intoVariances) {
      for (let g = 0; g < centres.length; g++) {
        intoCentres[g] = (centres[g] as number) + Math.sqrt(variances[g] as number) * random.normal();
      }
      intoVariances.set(variances);
    },
  };
}

function bootstrapCritical(estimates: readonly Estimate[], { level, samples }: GapIntervalOptions): number {
  const scratch = estimates.map(({ centres }) => ({
    centres: new Float64Array(centres.length),
    variances: new Float64Array(centres.length),
  }));
  const maxima = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    let largest = 0;
    estimates.forEach((family, index) => {
      const replicate = scratch[index] as (typeof scratch)[number];
      family.draw(replicate.centres, replicate.variances);
      largest = Math.max(largest, largestDeviation(family.centres, replicate.centres, replicate.variances));
    });
    maxima[sample] = largest;
  }
  return quantileSorted(maxima.sort(), level);
}

/** max over pairs of |d*_ij - d_ij| / se*_ij. */
function largestDeviation(centres: Float64Array, drawn: Float64Array, variances: Float64Array): number {
  let largest = 0;
  for (let i = 1; i < centres.length; i++) {
    const shift = (drawn[i] as number) - (centres[i] as number);
    for (let j = 0; j < i; j++) {
      const deviation = Math.abs(shift - ((drawn[j] as number) - (centres[j] as number)));
      const error = Math.sqrt((variances[i] as number) + (variances[j] as number));
      if (deviation > 0) largest = Math.max(largest, deviation / error);
    }
  }
  return largest;
}

function bonferroniCritical(estimates: readonly Estimate[], level: number): number {
  const pairs = estimates.reduce((sum, { centres: { length } }) => sum + (length * (length - 1)) / 2, 0);
  return criticalValue(1 - (1 - level) / pairs);
}

function gapRange({ centres, variances, point, ceiling }: Estimate, critical: number): Interval {
  let low = 0;
  let high = 0;
  for (let i = 1; i < centres.length; i++) {
    for (let j = 0; j < i; j++) {
      const difference = Math.abs((centres[i] as number) - (centres[j] as number));
      const half = critical * Math.sqrt((variances[i] as number) + (variances[j] as number));
      low = Math.max(low, difference - half);
      high = Math.max(high, difference + half);
    }
  }
  return [Math.min(low, point), Math.max(point, Math.min(ceiling, high))];
}

function spread(values: Float64Array): number {
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}
