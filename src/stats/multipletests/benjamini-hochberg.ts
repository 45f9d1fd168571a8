import { type AdjustedPValues, adjustPValues } from './adjust-p-values.ts';

/**
 * P values adjusted by Benjamini and Hochberg (1995): rejecting where the
 * adjusted value is at most q keeps the expected share of false rejections
 * at most q, for independent or positively dependent tests.
 *
 * The i-th smallest of m becomes min over j >= i of m p_j / j, at most 1.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is left out of m and stays NaN, last
 * @returns the adjusted values ascending, and the places they had in the input
 * @throws {ValueError} for numbers outside [0, 1]
 * @see Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate (1995)
 * @example
 * ```ts
 * import { benjaminiHochberg } from 'evenhand/stats/multipletests';
 *
 * const [adjusted, order] = benjaminiHochberg([0.5, 0.01, 0.04, 0.02]);
 * console.log(adjusted.map((p) => p.toFixed(3)).join(' '), order);
 * // 0.040 0.040 0.053 0.500 [ 1, 3, 2, 0 ]
 * ```
 */
export function benjaminiHochberg(pValues: ArrayLike<number>): AdjustedPValues {
  return adjustPValues(pValues, (ascending) => {
    const tests = ascending.length;
    let least = 1;
    for (let rank = tests; rank >= 1; rank--) {
      least = Math.min(least, ((ascending[rank - 1] as number) * tests) / rank);
      ascending[rank - 1] = least;
    }
  });
}
