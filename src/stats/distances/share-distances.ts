import { requireSharePair } from './require-sample.ts';

/**
 * Computes the Jensen-Shannon distance of two distributions over the same categories: the square root of the mean of
 * the relative entropies (base 2) of each distribution to their average. The distance is in [0, 1]: 0 for equal
 * distributions and 1 for distributions without a common category. Empty categories have no effect.
 * @param reference shares or counts; they are divided by their sum
 * @param current current shares or counts, over the same categories in the same order
 * @throws {DataValidationError} if the lengths differ, there is no category, a share is negative or not finite, or the
 *   shares sum to 0
 * @see D. M. Endres, J. E. Schindelin, A new metric for probability distributions (2003)
 * @example
 * ```ts
 * import { jensenShannonDistance } from 'evenhand/stats';
 *
 * console.log(jensenShannonDistance([0.5, 0.3, 0.2, 0], [0.4, 0.3, 0.2, 0.1]).toFixed(4));
 * // 0.2324
 * ```
 */
export function jensenShannonDistance(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const [p, q] = requireSharePair(reference, current);
  const divergence = p.reduce((sum, share, index) => {
    const other = q[index] as number;
    const middle = (share + other) / 2;
    return sum + entropyTerm(share, middle) + entropyTerm(other, middle);
  }, 0);
  // Rounding can make the sum slightly negative for equal distributions, and slightly above 1 for disjoint
  // distributions.
  return Math.sqrt(Math.min(1, Math.max(0, divergence / 2)));
}

function entropyTerm(share: number, middle: number): number {
  return share === 0 ? 0 : share * Math.log2(share / middle);
}

/**
 * Computes the total variation distance of two distributions over the same categories: half the sum of |p - q|. The
 * distance is also the largest difference between the two probabilities of a set of categories, over all sets. The
 * distance is in [0, 1].
 * @param reference shares or counts; they are divided by their sum
 * @param current current shares or counts, over the same categories in the same order
 * @throws {DataValidationError} under the same conditions as `jensenShannonDistance`
 * @example
 * ```ts
 * import { totalVariationDistance } from 'evenhand/stats';
 *
 * console.log(totalVariationDistance([0.5, 0.5], [0.25, 0.75]));
 * // 0.25
 * ```
 */
export function totalVariationDistance(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const [p, q] = requireSharePair(reference, current);
  return p.reduce((sum, share, index) => sum + Math.abs(share - (q[index] as number)), 0) / 2;
}

/**
 * Computes the largest difference in the share of a single category, max |p - q|. The difference is in [0, 1].
 * @param reference shares or counts; they are divided by their sum
 * @param current current shares or counts, over the same categories in the same order
 * @throws {DataValidationError} under the same conditions as `jensenShannonDistance`
 * @example
 * ```ts
 * import { largestShareDifference } from 'evenhand/stats';
 *
 * console.log(largestShareDifference([0.5, 0.25, 0.25], [0.25, 0.375, 0.375]));
 * // 0.25
 * ```
 */
export function largestShareDifference(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const [p, q] = requireSharePair(reference, current);
  return p.reduce((most, share, index) => Math.max(most, Math.abs(share - (q[index] as number))), 0);
}
