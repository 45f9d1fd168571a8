import type { Random } from '../internal/random.ts';
import { takeValues } from '../internal/values.ts';
import { normalOfT, spread, tOfNormal, welchDegrees } from './gap-family.ts';
import { type GapIntervalOptions, type GapIntervals, MAX_GROUPS_TO_RESAMPLE, rankedCritical } from './gap-interval.ts';
import { createNormalSampler, criticalValue, normalCdf } from './normal.ts';
import type { Interval } from './proportion-interval.ts';

/** The sampling errors of one value per group, estimated from clusters of dependent rows. */
export interface ClusterErrors {
  /** The variance of each group's value, [groups]; NaN if a group has one cluster. */
  readonly variances: Float64Array;
  /** The degrees of freedom of each variance, [groups]: clusters minus strata. */
  readonly degrees: Float64Array;
  /** The number of clusters of each group, [groups]. */
  readonly clusters: Float64Array;
  /** The pairs of groups whose values are correlated. */
  readonly pairs: readonly ClusterPair[];
}

/** A pair of groups whose values are correlated, because clusters have rows of both groups. */
export interface ClusterPair {
  readonly first: number;
  readonly second: number;
  readonly covariance: number;
  /** The largest number of degrees of freedom that the difference may have: different clusters minus strata. */
  readonly maxDegrees: number;
}

/** Returns the errors of values that are each multiplied by a factor. */
export function scaleErrors(errors: ClusterErrors, factors: Float64Array): ClusterErrors {
  const factor = (group: number): number => factors[group] as number;
  return {
    ...errors,
    variances: errors.variances.map((variance, group) => variance * factor(group) ** 2),
    pairs: errors.pairs.map((pair) => ({
      ...pair,
      covariance: pair.covariance * factor(pair.first) * factor(pair.second),
    })),
  };
}

/** Returns the errors of some of the groups, with new indexes in the given order. */
export function pickErrors(errors: ClusterErrors, groups: readonly number[]): ClusterErrors {
  const positionOf = new Map(groups.map((group, index) => [group, index]));
  return {
    variances: takeValues(errors.variances, groups),
    degrees: takeValues(errors.degrees, groups),
    clusters: takeValues(errors.clusters, groups),
    pairs: errors.pairs.flatMap((pair) => {
      const [first, second] = [positionOf.get(pair.first), positionOf.get(pair.second)];
      return first === undefined || second === undefined ? [] : [{ ...pair, first, second }];
    }),
  };
}

/** Values of groups with the errors that clusters of dependent rows give them. */
export interface ClusterFamily extends Pick<ClusterErrors, 'variances' | 'degrees' | 'pairs'> {
  readonly values: Float64Array;
  /** The largest possible gap. */
  readonly ceiling: number;
}

/**
 * Computes intervals for the gap between groups whose rows come in clusters. As in `gapIntervals`, the intervals d_ij ± c
 * se_ij hold simultaneously for all pairs of groups of all families, with se_ij^2 = v_i + v_j - 2 cov_ij.
 *
 * c is the `level` quantile of max |d*_ij| / se_ij, where d* are drawn from a normal distribution with the estimated
 * covariances. This is the distribution that a bootstrap with a normal multiplier for the influence of each cluster has,
 * so that a replicate costs O(groups squared) instead of O(clusters). A single pair needs no draws. c is then replaced by Student's t with the same tail
 * and the degrees of freedom of each pair, because few clusters estimate a variance badly. With more than 64 groups, c is
 * Bonferroni's bound.
 * @param families families with a finite variance for every group; at least one has two groups
 */
export function clusterGapIntervals(families: readonly ClusterFamily[], options: GapIntervalOptions): GapIntervals {
  const compared = families.map((family) => ({ family, errorOf: pairErrors(family) }));
  const observed = Math.max(...compared.map(largestNormal));
  const groups = Math.max(...families.map(({ values }) => values.length));
  const { level, samples, random } = options;
  const pairs = families.reduce((sum, { values: { length } }) => sum + (length * (length - 1)) / 2, 0);
  const isDrawn = pairs > 1 && groups <= MAX_GROUPS_TO_RESAMPLE;
  const { critical, pValue } = isDrawn
    ? rankedCritical(drawMaxima(compared, samples, random), level, observed)
    : {
        critical: criticalValue(1 - (1 - level) / pairs),
        pValue: Math.min(1, Math.max(Number.MIN_VALUE, pairs * 2 * normalCdf(-observed))),
      };
  return {
    intervals: compared.map((one) => gapRange(one, critical)),
    method: isDrawn ? 'cluster-max-t' : pairs === 1 ? 'cluster-t' : 'bonferroni-cluster-t',
    pValue,
  };
}

interface Compared {
  readonly family: ClusterFamily;
  readonly errorOf: (first: number, second: number) => PairError;
}

/** The standard error of a difference, with its degrees of freedom. */
interface PairError {
  readonly error: number;
  readonly degrees: number;
}

/** Returns a function that computes the standard error of the difference of two groups. */
export function pairErrors({
  variances,
  degrees,
  pairs,
}: Pick<ClusterErrors, 'variances' | 'degrees' | 'pairs'>): Compared['errorOf'] {
  const groups = variances.length;
  const known = new Map(pairs.map((pair) => [keyOf(pair.first, pair.second, groups), pair]));
  return (first, second) => {
    const [v1, v2] = [variances[first] as number, variances[second] as number];
    const pair = known.size === 0 ? undefined : known.get(keyOf(first, second, groups));
    const welch = v1 + v2 === 0 ? Infinity : welchDegrees(v1, degrees[first] as number, v2, degrees[second] as number);
    if (pair === undefined) return { error: Math.sqrt(v1 + v2), degrees: welch };
    return {
      // Rounding may leave a negative variance if the two values always change together.
      error: Math.sqrt(Math.max(0, v1 + v2 - 2 * pair.covariance)),
      degrees: Math.min(welch, pair.maxDegrees),
    };
  };
}

function keyOf(first: number, second: number, groups: number): number {
  return Math.min(first, second) * groups + Math.max(first, second);
}

/** Returns the largest |t| of all pairs, as the normal value with the same tail probability. */
function largestNormal({ family: { values }, errorOf }: Compared): number {
  let largest = 0;
  for (let second = 1; second < values.length; second++) {
    for (let first = 0; first < second; first++) {
      const difference = Math.abs((values[first] as number) - (values[second] as number));
      if (difference === 0) continue;
      const { error, degrees } = errorOf(first, second);
      if (error === 0) return Infinity;
      largest = Math.max(largest, toNormal(difference / error, degrees));
    }
  }
  return largest;
}

function toNormal(t: number, degrees: number): number {
  return Number.isFinite(degrees) ? normalOfT(t, degrees) : t;
}

function gapRange({ family: { values, ceiling }, errorOf }: Compared, critical: number): Interval {
  const point = spread(values);
  let low = 0;
  let high = 0;
  for (let second = 1; second < values.length; second++) {
    for (let first = 0; first < second; first++) {
      const difference = Math.abs((values[first] as number) - (values[second] as number));
      const { error, degrees } = errorOf(first, second);
      const half = error === 0 ? 0 : error * (Number.isFinite(degrees) ? tOfNormal(critical, degrees) : critical);
      low = Math.max(low, difference - half);
      high = Math.max(high, difference + half);
    }
  }
  return [Math.min(low, point), Math.max(point, Math.min(ceiling, high))];
}

function drawMaxima(compared: readonly Compared[], samples: number, random: Random): Float64Array {
  const draw = createNormalSampler(random);
  const maxima = new Float64Array(samples);
  for (const { family, errorOf } of compared) {
    const { length } = family.values;
    const root = choleskyRoot(family);
    const inverse = Float64Array.from({ length: length * length }, (_, index) => {
      const { error } = errorOf(Math.floor(index / length), index % length);
      return error === 0 ? 0 : 1 / error;
    });
    const normals = new Float64Array(length);
    const drawn = new Float64Array(length);
    for (let sample = 0; sample < samples; sample++) {
      for (let group = 0; group < length; group++) normals[group] = draw();
      let largest = maxima[sample] as number;
      for (let group = 0; group < length; group++) {
        let value = 0;
        for (let k = 0; k <= group; k++) value += (root[group * length + k] as number) * (normals[k] as number);
        drawn[group] = value;
        for (let other = 0; other < group; other++) {
          const t = Math.abs(value - (drawn[other] as number)) * (inverse[group * length + other] as number);
          if (t > largest) largest = t;
        }
      }
      maxima[sample] = largest;
    }
  }
  return maxima;
}

/**
 * Returns the lower triangular L with L L^T = covariance, [groups x groups]. A covariance without full rank, as of a value
 * that is constant or of values that always change together, has columns of 0.
 */
function choleskyRoot({ variances, pairs }: ClusterFamily): Float64Array {
  const { length } = variances;
  const root = new Float64Array(length * length);
  const covariance = new Float64Array(length * length);
  variances.forEach((variance, group) => (covariance[group * length + group] = variance));
  for (const { first, second, covariance: value } of pairs) {
    covariance[first * length + second] = value;
    covariance[second * length + first] = value;
  }
  for (let column = 0; column < length; column++) {
    for (let row = column; row < length; row++) {
      let rest = covariance[row * length + column] as number;
      for (let k = 0; k < column; k++)
        rest -= (root[row * length + k] as number) * (root[column * length + k] as number);
      const pivot = root[column * length + column] as number;
      if (row > column) root[row * length + column] = pivot === 0 ? 0 : rest / pivot;
      else root[row * length + column] = rest > (variances[row] as number) * RANK_TOLERANCE ? Math.sqrt(rest) : 0;
    }
  }
  return root;
}

/** The share of a variance below which the rest of it is a rounding error. */
const RANK_TOLERANCE = 1e-10;
