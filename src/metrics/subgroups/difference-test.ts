import { normalQuantile } from '../../stats/normal.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import { fTail } from '../../stats/tests/one-way-anova.ts';
import { betaQuantile } from '../../vendor/special.ts';
import { stirlingError } from '../../stats/stirling-error.ts';
import type { Measured, SubgroupTotals } from './measure.ts';

/** The difference between a subgroup and the other rows. */
export interface Difference {
  readonly value: number;
  readonly rest: number;
  readonly difference: number;
  /** NaN if the difference cannot be tested. */
  readonly pValue: number;
  interval(level: number): Interval;
}

/** How differences are tested. */
export interface DifferenceTest {
  /** Whether values are 0 or 1. */
  readonly isRate: boolean;
  readonly hasClusters: boolean;
}

/** The minimum number of clusters with rows of a subgroup, and of the other rows. */
export const MIN_CLUSTERS = 10;

/**
 * Tests the difference between a subgroup and all other rows.
 *
 * Rates of independent rows: Fisher's exact test, and the interval of Newcombe (1998, method 10). Otherwise, with scores
 * or clusters: {@link clusterT} for the p-value, {@link clusterVariance} for the interval, and Student's t with the
 * degrees of freedom of the side with fewer clusters.
 */
export function testDifference(measured: Measured, index: number, { isRate, hasClusters }: DifferenceTest): Difference {
  const own = measured.subgroups[index] as SubgroupTotals;
  const { all, centre } = measured;
  const restCount = all.count - own.count;
  const value = own.sum / own.count;
  const rest = (all.sum - own.sum) / restCount;
  const difference = value - rest;
  if (isRate && !hasClusters) {
    return {
      value,
      rest,
      difference,
      pValue: fisherExact(own.sum, own.count, all.sum, all.count),
      interval: (level) => newcombeInterval([own.sum, own.count], [all.sum - own.sum, restCount], level),
    };
  }
  const variance = differenceVariance(measured, own, isRate);
  const degrees = Math.min(own.clusters, all.clusters - own.within) - 1;
  const isTestable = variance > 0 && degrees >= (hasClusters ? MIN_CLUSTERS - 1 : 1);
  const error = Math.sqrt(variance);
  return {
    value,
    rest,
    difference,
    pValue: isTestable ? fTail(clusterT(all, own, centre) ** 2, 1, degrees) : NaN,
    interval: (level) => {
      if (!isTestable) return [NaN, NaN];
      const half = studentCritical(level, degrees) * error;
      const [low, high] = [difference - half, difference + half];
      return isRate ? [Math.max(-1, low), Math.min(1, high)] : [low, high];
    },
  };
}

/**
 * Returns the variance of a difference from cluster totals. That of rates is at least the variance of independent rows,
 * because few rows often do not vary by chance.
 */
export function differenceVariance({ all, centre }: Measured, own: SubgroupTotals, isRate: boolean): number {
  const variance = clusterVariance(all, own, centre);
  if (!isRate) return variance;
  const independent = [
    [own.sum, own.count],
    [all.sum - own.sum, all.count - own.count],
  ].map(([hits = 0, count = 0]) => {
    const steady = (hits + 1) / (count + 2);
    return (steady * (1 - steady)) / (count + 2);
  });
  return Math.max(variance, (independent[0] as number) + (independent[1] as number));
}

/**
 * Returns the variance of the difference between the mean of a subgroup S and that of the other rows T, for clusters
 * that may have rows in both. Linearised (Woodruff 1971): G / (G - 1) times the sum over clusters of u^2, with
 *
 *     u = (y_S - r_S d_S) / D_S - (y_T - r_T d_T) / D_T,
 *
 * where y and d are the totals of a cluster, D those of all rows, and r the means. With every row as a cluster, this is
 * the variance of independent rows.
 * @param all the products of the totals of all rows of each cluster
 * @param own the products with the totals of S
 */
export function clusterVariance(all: SubgroupTotals, own: SubgroupTotals, centre: number): number {
  const restCount = all.count - own.count;
  const [a, b] = [1 / own.count, 1 / restCount];
  const mean = own.sum / own.count - centre;
  const restMean = (all.sum - own.sum) / restCount - centre;
  // u = y (a + b) - d (a r_S + b r_T) - b Y + b r_T D, in the totals of S (y, d) and of all rows (Y, D).
  return sumOfSquares(all, own, [a + b, -(a * mean + b * restMean), -b, b * restMean]);
}

/**
 * Returns t of the hypothesis that the mean of a subgroup is that of all rows (a score test): the sum of the residuals of
 * S, divided by its standard deviation, from u = y - q Y with the residuals y and Y of a cluster and the share q of rows
 * in S. With few clusters, it finds fewer false differences than the difference divided by its standard error.
 */
function clusterT(all: SubgroupTotals, own: SubgroupTotals, centre: number): number {
  const mean = all.sum / all.count - centre;
  const share = own.count / all.count;
  const variance = sumOfSquares(all, own, [1, -mean, -share, share * mean]);
  const sum = own.sum - (all.sum / all.count) * own.count;
  return variance > 0 ? sum / Math.sqrt(variance) : 0;
}

/** Returns G / (G - 1) times the sum over clusters of (b1 y + b2 d + b3 Y + b4 D)^2. */
function sumOfSquares(
  all: SubgroupTotals,
  own: SubgroupTotals,
  [y, d, Y, D]: readonly [number, number, number, number],
): number {
  const terms = [
    y * y * own.yy, d * d * own.dd, Y * Y * all.yy, D * D * all.dd,
    2 * y * d * own.yd, 2 * y * Y * own.yY, 2 * y * D * own.yD, 2 * d * Y * own.dY, 2 * d * D * own.dD, 2 * Y * D * all.yd,
  ]; // prettier-ignore
  const [squares, size] = terms.reduce<[number, number]>(
    ([sum, absolute], term) => [sum + term, absolute + Math.abs(term)],
    [0, 0],
  );
  if (!(all.clusters > 1)) return NaN;
  // A sum that is only a rounding error of its terms is none.
  return squares > 1e-12 * size ? (squares * all.clusters) / (all.clusters - 1) : 0;
}

/** Returns the two-sided critical value of Student's t: t^2 = df (1 - x) / x, where x is a quantile of Beta(df/2, 1/2). */
function studentCritical(level: number, degrees: number): number {
  const x = betaQuantile(1 - level, degrees / 2, 0.5);
  return Math.sqrt((degrees * (1 - x)) / x);
}

/**
 * Returns Newcombe's interval of a difference of two rates: the ends of the two Wilson intervals are combined, so that
 * it also holds for few rows.
 */
export function newcombeInterval(
  [hits, count]: readonly [number, number],
  [otherHits, otherCount]: readonly [number, number],
  level: number,
): Interval {
  const [p, q] = [hits / count, otherHits / otherCount];
  const [low, high] = wilsonInterval(hits, count, level);
  const [otherLow, otherHigh] = wilsonInterval(otherHits, otherCount, level);
  return [p - q - Math.hypot(p - low, otherHigh - q), p - q + Math.hypot(high - p, q - otherLow)];
}

/**
 * Returns the p-value of Fisher's exact test for a subgroup: twice the smaller tail of the hypergeometric distribution,
 * at most 1.
 * @param hits the number of ones among the `count` rows of the subgroup
 * @param allHits the number of ones among all `all` rows
 */
export function fisherExact(hits: number, count: number, allHits: number, all: number): number {
  const lowest = Math.max(0, allHits - (all - count));
  const highest = Math.min(count, allHits);
  const at = Math.exp(logChance(hits, count, allHits, all));
  // Terms fall away from the mean, so that each tail ends when its terms do not change the sum.
  const ratio = (k: number): number => ((count - k) * (allHits - k)) / ((k + 1) * (all - count - allHits + k + 1));
  const mean = (count * allHits) / all;
  const tail = (step: 1 | -1): number => {
    let term = at;
    let sum = at;
    for (let k = hits; step > 0 ? k < highest : k > lowest; k += step) {
      term = step > 0 ? term * ratio(k) : term / ratio(k - 1);
      sum += term;
      if (term < 1e-17 * sum && step * (k - mean) > 0) break;
    }
    return sum;
  };
  return Math.min(1, 2 * (hits > mean ? tail(1) : tail(-1)));
}

/** Returns ln P(X = k) for the hypergeometric distribution, from logarithms of factorials. */
function logChance(k: number, count: number, allHits: number, all: number): number {
  return logChoose(allHits, k) + logChoose(all - allHits, count - k) - logChoose(all, count);
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

function logFactorial(n: number): number {
  return n < 2 ? 0 : (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + stirlingError(n);
}

/**
 * Returns about the smallest difference that the test of `tests` candidates detects with probability 0.8, for a subgroup
 * of `count` tested rows.
 */
export function detectableDifference(
  { variance, all }: { readonly variance: number; readonly all: number },
  count: number,
  { alpha, tests }: { readonly alpha: number; readonly tests: number },
): number {
  const z = normalQuantile(1 - alpha / (2 * tests)) + normalQuantile(0.8);
  return z * Math.sqrt(variance * (1 / count + 1 / Math.max(1, all - count)));
}
