import tQuantile from '@stdlib/stats-base-dists-t-quantile';

import type { Random } from '../../src/internal/random.ts';
import { createBinomialSampler } from '../../src/stats/binomial-sampler.ts';
import type { Interval } from '../../src/stats/index.ts';
import { criticalValue } from '../../src/stats/normal.ts';
import { quantileSorted } from '../../src/stats/quantile.ts';
import type { DrawnFamily, DrawnMeans } from './draw-data.ts';

/** Returns half the width of the interval of the difference of two groups. */
type HalfWidth = (i: number, j: number) => number;

/**
 * Returns Bonferroni intervals over all pairs of all families: Agresti-Caffo for rates, Welch for means. They are
 * mapped to the gap like the default interval.
 */
export function bonferroniIntervals(families: readonly DrawnFamily[], level: number): Interval[] {
  const pairs = families.reduce((sum, family) => sum + pairsOf(observed(family).length), 0);
  const alpha = (1 - level) / pairs;
  return families.map((family) => {
    const [centres, half, ceiling] = family.kind === 'rates' ? agrestiCaffo(family, alpha) : welch(family, alpha);
    let low = 0;
    let high = 0;
    for (let i = 1; i < centres.length; i++) {
      for (let j = 0; j < i; j++) {
        const difference = Math.abs((centres[i] as number) - (centres[j] as number));
        low = Math.max(low, difference - half(i, j));
        high = Math.max(high, difference + half(i, j));
      }
    }
    const point = gapOf(observed(family));
    return [Math.min(low, point), Math.max(point, Math.min(ceiling, high))];
  });
}

function pairsOf(groups: number): number {
  return (groups * (groups - 1)) / 2;
}

function agrestiCaffo(
  { successes, trials }: Extract<DrawnFamily, { kind: 'rates' }>,
  alpha: number,
): [centres: number[], half: HalfWidth, ceiling: number] {
  const z = criticalValue(1 - alpha);
  const rates = Array.from(trials, (n, group) => ((successes[group] as number) + 1) / (n + 2));
  const variances = rates.map((rate, group) => (rate * (1 - rate)) / ((trials[group] as number) + 2));
  return [rates, (i, j) => z * Math.sqrt((variances[i] as number) + (variances[j] as number)), 1];
}

function welch(family: DrawnMeans, alpha: number): [centres: number[], half: HalfWidth, ceiling: number] {
  const variances = Array.from(family.standardErrors, (error) => error * error);
  const half: HalfWidth = (i, j) => {
    const [vi, vj] = [variances[i] as number, variances[j] as number];
    const degrees =
      (vi + vj) ** 2 / (vi ** 2 / ((family.sizes[i] as number) - 1) + vj ** 2 / ((family.sizes[j] as number) - 1));
    return tQuantile(1 - alpha / 2, degrees) * Math.sqrt(vi + vj);
  };
  return [Array.from(family.means), half, Infinity];
}

/**
 * Returns the interval of the percentile method: quantiles of the largest minus the smallest value over a parametric
 * bootstrap of the observed data.
 */
export function percentileInterval(
  families: readonly DrawnFamily[],
  { level, samples, random }: { level: number; samples: number; random: Random },
): Interval {
  const draws = families.map((family) => resampler(family, random));
  const gaps = Float64Array.from({ length: samples }, () =>
    Math.max(...draws.map((draw) => gapOf(draw.map((one) => one())))),
  ).sort();
  return [quantileSorted(gaps, (1 - level) / 2), quantileSorted(gaps, (1 + level) / 2)];
}

function resampler(family: DrawnFamily, random: Random): (() => number)[] {
  if (family.kind === 'means') {
    return Array.from(
      family.means,
      (mean, group) => () => mean + (family.standardErrors[group] as number) * random.normal(),
    );
  }
  return Array.from(family.trials, (n, group) => {
    const rate = (family.successes[group] as number) / n;
    if (rate === 0 || rate === 1) return () => rate;
    const draw = createBinomialSampler(n, rate, random);
    return () => draw() / n;
  });
}

function observed(family: DrawnFamily): number[] {
  return family.kind === 'means'
    ? Array.from(family.means)
    : Array.from(family.trials, (n, group) => (family.successes[group] as number) / n);
}

function gapOf(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}
