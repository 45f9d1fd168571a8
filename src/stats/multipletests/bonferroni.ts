import { type AdjustedPValues, adjustPValues } from './adjust-p-values.ts';

/**
 * P values adjusted by Bonferroni: each of m becomes m p, at most 1. Rejecting
 * where the adjusted value is at most alpha keeps the probability of any
 * false rejection at most alpha, whatever the dependence.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is left out of m and stays NaN, last
 * @returns the adjusted values ascending, and the places they had in the input
 * @throws {ValueError} for numbers outside [0, 1]
 * @see O. Dunn, Multiple Comparisons Among Means (1961)
 * @example
 * ```ts
 * import { bonferroni } from 'evenhand/stats/multipletests';
 *
 * const [adjusted, order] = bonferroni([0.5, 0.01, 0.04, 0.02]);
 * console.log(adjusted.map((p) => p.toFixed(3)).join(' '), order);
 * // 0.040 0.080 0.160 1.000 [ 1, 3, 2, 0 ]
 * ```
 */
export function bonferroni(pValues: ArrayLike<number>): AdjustedPValues {
  return adjustPValues(pValues, (ascending) => {
    const tests = ascending.length;
    ascending.forEach((p, place) => {
      ascending[place] = p * tests;
    });
  });
}
