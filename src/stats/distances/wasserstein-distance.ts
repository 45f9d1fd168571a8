import { requireSample, sortedSample } from './require-sample.ts';

/**
 * If the standard deviation of the reference is smaller than this value, this value is used as the unit. This minimum
 * keeps the ratio finite if the reference hardly varies.
 */
const MIN_DEVIATION = 0.001;

/**
 * Computes the first Wasserstein (earth mover's) distance of two samples: the area between their empirical distribution
 * functions, in the units of the values. The Wasserstein distance is the mean distance by which the values of one
 * sample must be moved to obtain the other sample.
 * @throws {DataValidationError} if a sample is empty or has a value that is not finite
 * @see L. N. Vaserstein (1969)
 * @example
 * ```ts
 * import { wassersteinDistance } from 'evenhand/stats';
 *
 * console.log(wassersteinDistance([0, 1, 3], [5, 6, 8]));
 * // 5
 * ```
 */
export function wassersteinDistance(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const first = sortedSample('reference', reference);
  const second = sortedSample('current', current);
  const [n, m] = [first.length, second.length];
  let [i, j, area] = [0, 0, 0];
  let previous = Math.min(first[0] as number, second[0] as number);
  while (i < n || j < m) {
    const value = Math.min(first[i] ?? Infinity, second[j] ?? Infinity);
    area += (value - previous) * Math.abs(i / n - j / m);
    previous = value;
    while (i < n && first[i] === value) i++;
    while (j < m && second[j] === value) j++;
  }
  return area;
}

/**
 * Computes the Wasserstein distance in units of the population standard deviation of the reference (at least 0.001).
 * Features in different units are then comparable. Drift monitors commonly warn at 0.1.
 * @throws {DataValidationError} if a sample is empty or has a value that is not finite
 * @example
 * ```ts
 * import { normedWassersteinDistance } from 'evenhand/stats';
 *
 * console.log(normedWassersteinDistance([0, 2], [1, 3]));
 * // 1
 * ```
 */
export function normedWassersteinDistance(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const values = requireSample('reference', reference);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return wassersteinDistance(values, current) / Math.max(Math.sqrt(variance), MIN_DEVIATION);
}
