import { type AdjustedPValues, adjustPValues } from './adjust-p-values.ts';

/**
 * P values adjusted by Holm (1979): rejecting where the adjusted value is at
 * most alpha keeps the probability of any false rejection at most alpha,
 * whatever the dependence. Never less powerful than Bonferroni's.
 *
 * The i-th smallest of m becomes max over j <= i of (m - j + 1) p_j, at most 1.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is left out of m and stays NaN, last
 * @returns the adjusted values ascending, and the places they had in the input
 * @throws {ValueError} for numbers outside [0, 1]
 * @see S. Holm, A Simple Sequentially Rejective Multiple Test Procedure (1979)
 * @example
 * ```ts
 * import { holm } from 'evenhand/stats/multipletests';
 *
 * const [adjusted, order] = holm([0.5, 0.01, 0.04, 0.02]);
 * console.log(adjusted.map((p) => p.toFixed(3)).join(' '), order);
 * // 0.040 0.060 0.080 0.500 [ 1, 3, 2, 0 ]
 * ```
 */
export function holm(pValues: ArrayLike<number>): AdjustedPValues {
  return adjustPValues(pValues, (ascending) => {
    const tests = ascending.length;
    let largest = 0;
    for (let place = 0; place < tests; place++) {
      largest = Math.max(largest, (ascending[place] as number) * (tests - place));
      ascending[place] = largest;
    }
  });
}
