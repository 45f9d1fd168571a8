import type { BinomialTable } from './binomial-sampler.ts';
import { type PairExtremes, pairExtremes } from './pair-extremes.ts';
import type { Interval } from './proportion-interval.ts';

/** The inputs of the interval of a gap between groups: centres, variances and a function that draws replicates. */
export interface GapFamily {
  readonly centres: Float64Array;
  readonly variances: Float64Array;
  /** Degrees of freedom of each variance; undefined if the centre determines the variance. */
  readonly degrees?: Float64Array | undefined;
  /** The observed gap. */
  readonly point: number;
  /** The largest possible gap. */
  readonly ceiling: number;
  /** The upper end of the interval is at least this value; Infinity if the data do not bound the gap from above. */
  readonly minHigh?: number | undefined;
  /**
   * The divisor of the centres, 1 by default. The divisor keeps the squares of the centres within the range of float64.
   */
  readonly unit?: number | undefined;
  /** Draws a replicate's centres and variances into the given arrays. */
  draw(centres: Float64Array, variances: Float64Array): void;
  /**
   * Returns the distribution of each group as a table, if all groups have one. Drawing from the tables gives the same
   * numbers as `draw`.
   */
  tables?(): readonly GroupTable[] | undefined;
}

/** The distribution of one group: its possible counts, with the centre and the variance for each count. */
export interface GroupTable {
  /** The table from which a uniform random number selects the index of a count. */
  readonly counts: BinomialTable;
  readonly centres: Float64Array;
  readonly variances: Float64Array;
}

/** Returns the largest minus the smallest value; 0 if there are no values. */
export function spread(values: ArrayLike<number>): number {
  let low = Infinity;
  let high = -Infinity;
  for (let index = 0; index < values.length; index++) {
    low = Math.min(low, values[index] as number);
    high = Math.max(high, values[index] as number);
  }
  return high > low ? high - low : 0;
}

/**
 * Returns the family with its groups sorted by their centres, from the outermost inward: largest, smallest, second
 * largest, and so on.
 */
export function outermostFirst(family: GapFamily): GapFamily {
  const { centres, variances, degrees } = family;
  const ascending = Uint32Array.from(centres.keys()).sort((a, b) => (centres[a] as number) - (centres[b] as number));
  const last = ascending.length - 1;
  const order = ascending.map((_, index) => ascending[index % 2 === 0 ? last - index / 2 : (index - 1) / 2] as number);
  const reordered = (values: Float64Array): Float64Array =>
    Float64Array.from(order, (group) => values[group] as number);
  return {
    ...family,
    centres: reordered(centres),
    variances: reordered(variances),
    degrees: degrees === undefined ? undefined : reordered(degrees),
  };
}

/**
 * Computes the interval of the gap of a family from the intervals of the differences between all pairs of groups. A
 * pair's interval is the difference ± `critical` standard errors. If degrees of freedom are given, Welch's t quantile
 * with the same tail probability replaces `critical`. With degrees of freedom, takes O(groups squared) time; otherwise,
 * the time is usually proportional to the number of groups.
 */
export function gapRange(family: Omit<GapFamily, 'draw'>, critical: number, degrees?: Float64Array): Interval {
  const { point, ceiling, minHigh = 0, unit = 1 } = family;
  const { low, high } =
    degrees === undefined ? pairExtremes(family, critical) : welchExtremes(family, critical, degrees);
  const top = Math.min(ceiling, Math.max(minHigh, high * unit));
  return [Math.min(low * unit, point), Math.max(point, top)];
}

function welchExtremes(
  { centres, variances }: Pick<GapFamily, 'centres' | 'variances'>,
  critical: number,
  degrees: Float64Array,
): PairExtremes {
  // A pair has at least as many degrees of freedom as the smaller number of its two groups. This quantile is therefore
  // an upper bound for the pair.
  const widest = degrees.map((df) => tOfNormal(critical, df));
  let low = 0;
  let high = 0;
  for (let i = 1; i < centres.length; i++) {
    const centre = centres[i] as number;
    const vi = variances[i] as number;
    for (let j = 0; j < i; j++) {
      const difference = Math.abs(centre - (centres[j] as number));
      const vj = variances[j] as number;
      const error = Math.sqrt(vi + vj);
      // With an error of 0, the half-width is 0 for any quantile, even for an infinite quantile.
      let half = error === 0 ? 0 : critical * error;
      if (error > 0) {
        const most = Math.max(widest[i] as number, widest[j] as number) * error;
        // Most pairs cannot change either end, so the computation of their quantile is skipped.
        if (difference - half <= low && difference + most <= high) continue;
        half = error * tOfNormal(critical, welchDegrees(vi, degrees[i] as number, vj, degrees[j] as number));
      }
      if (difference - half > low) low = difference - half;
      if (difference + half > high) high = difference + half;
    }
  }
  return { low, high };
}

/**
 * Returns the Student's t value with the same tail probability as a normal value. The function uses Wallace's
 * approximation (1959),
 *
 *     z = (8 v + 1) / (8 v + 3) sqrt(v ln(1 + t^2 / v)),
 *
 * The approximation takes only a few operations, which matters because many groups have millions of pairs. With at
 * least 10 degrees of freedom, the error of t is at most 2% for tails down to 1e-7. With fewer degrees of freedom, t is
 * too large in such tails.
 */
export function tOfNormal(z: number, degrees: number): number {
  const scaled = (z * (8 * degrees + 3)) / (8 * degrees + 1);
  return Math.sqrt(degrees * Math.expm1((scaled * scaled) / degrees));
}

/** Returns the normal value with the same tail probability as t. This function is the inverse of {@link tOfNormal}. */
export function normalOfT(t: number, degrees: number): number {
  return ((8 * degrees + 1) / (8 * degrees + 3)) * Math.sqrt(degrees * Math.log1p((t * t) / degrees));
}

/** Computes Welch's degrees of freedom of a difference of two means from their variances and degrees of freedom. */
export function welchDegrees(v1: number, degrees1: number, v2: number, degrees2: number): number {
  const total = v1 + v2;
  return (total * total) / ((v1 * v1) / degrees1 + (v2 * v2) / degrees2);
}
