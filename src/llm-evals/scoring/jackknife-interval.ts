import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import type { Interval } from '../../stats/proportion-interval.ts';

/** An interval with its standard error, or the reason why the interval cannot be computed. */
export type JackknifeInterval =
  | { readonly ci: Interval; readonly standardError: number; readonly reason: null }
  | { readonly ci: null; readonly standardError: null; readonly reason: string };

/** The score of all clusters, and what its interval needs. */
interface JackknifeScores {
  /** The score of all clusters together. */
  readonly value: number;
  /** The score without one of the clusters, for each cluster. */
  readonly without: readonly number[];
  readonly level: number;
  readonly range: readonly [least: number, most: number];
  /** The name of a cluster in reasons, such as "template". */
  readonly cluster: string;
}

/**
 * Computes a confidence interval for a score. The interval is based on the variation between clusters.
 *
 * Uses the delete-one jackknife with K clusters: se^2 = (K - 1) / K sum (score without cluster k - mean of these
 * scores)^2. The interval is score -+ t(K - 1) se, clipped to the score's range. Answers within a cluster may depend on
 * each other in any way. Clusters are assumed to be independent. There is no interval for fewer than two clusters, for
 * clusters without variation, or if the score is undefined without one of the clusters.
 * @see B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 11
 */
export function jackknifeInterval(scores: JackknifeScores): JackknifeInterval {
  const { value, without, level, range, cluster } = scores;
  if (without.length < 2) return none(`there is only one ${cluster}`);
  if (!without.every(Number.isFinite)) return none(`the score is undefined without one of the ${cluster}s`);
  const mean = without.reduce((sum, each) => sum + each, 0) / without.length;
  const squares = without.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const degrees = without.length - 1;
  const standardError = Math.sqrt((degrees / without.length) * squares);
  // A smaller standard error is the result of rounding only.
  if (!(standardError > 1e-12)) return none(`all ${cluster}s have the same score`);
  const margin = twoSidedCritical(level, degrees) * standardError;
  const [least, most] = range;
  const ci = Object.freeze<Interval>([Math.max(least, value - margin), Math.min(most, value + margin)]);
  return { ci, standardError, reason: null };
}

function none(reason: string): JackknifeInterval {
  return { ci: null, standardError: null, reason };
}
