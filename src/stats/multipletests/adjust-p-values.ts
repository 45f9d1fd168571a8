import { invalidParameter } from '../../internal/arguments.ts';

/**
 * Adjusted p-values in ascending order, with their input indices: `adjusted[i]` belongs to the p-value at index
 * `order[i]` of the input. Equal p-values keep their order. Undefined (NaN) p-values come last.
 */
export type AdjustedPValues = readonly [adjusted: readonly number[], order: readonly number[]];

/**
 * Sorts p-values, adjusts the defined p-values and appends the undefined p-values.
 * @param adjust a function that adjusts ascending p-values in place and keeps them ascending; values above 1 become 1
 * @throws {ValueError} if a number is outside [0, 1]
 */
function adjustPValues(pValues: ArrayLike<number>, adjust: (ascending: number[]) => void): AdjustedPValues {
  const given = Array.from(pValues);
  given.forEach(requirePValue);
  const indices = Array.from(given.keys());
  const defined = indices
    .filter((index) => !Number.isNaN(given[index]))
    .sort((a, b) => (given[a] as number) - (given[b] as number));
  const undefinedIndices = indices.filter((index) => Number.isNaN(given[index]));
  const adjusted = defined.map((index) => given[index] as number);
  adjust(adjusted);
  return Object.freeze<AdjustedPValues>([
    Object.freeze([...adjusted.map((p) => Math.min(1, p)), ...undefinedIndices.map(() => NaN)]),
    Object.freeze([...defined, ...undefinedIndices]),
  ]);
}

function requirePValue(value: number, position: number): void {
  if (Number.isNaN(value) || (value >= 0 && value <= 1)) return;
  const required = 'an array of numbers from 0 to 1, or NaN for undefined p-values';
  throw invalidParameter('pValues', `be ${required}`, `${String(value)} at index ${String(position)}`);
}

/**
 * Adjusts p-values by Benjamini and Hochberg (1995). Rejecting the hypotheses with an adjusted value of at most q keeps
 * the false discovery rate at most q, for independent or positively dependent tests.
 *
 * The i-th smallest of m p-values becomes min over j >= i of m p_j / j, at most 1.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is not counted in m and comes last
 * @returns the adjusted values in ascending order, and their indices in the input
 * @throws {ValueError} if a number is outside [0, 1]
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
    let min = 1;
    for (let rank = tests; rank >= 1; rank--) {
      min = Math.min(min, ((ascending[rank - 1] as number) * tests) / rank);
      ascending[rank - 1] = min;
    }
  });
}

/**
 * Adjusts p-values by Bonferroni: each p of m p-values becomes m p, at most 1. Rejecting the hypotheses with an
 * adjusted value of at most alpha keeps the probability of any false rejection at most alpha, under any dependence.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is not counted in m and comes last
 * @returns the adjusted values in ascending order, and their indices in the input
 * @throws {ValueError} if a number is outside [0, 1]
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
    ascending.forEach((p, index) => {
      ascending[index] = p * tests;
    });
  });
}

/**
 * Adjusts p-values by Holm (1979). Rejecting the hypotheses with an adjusted value of at most alpha keeps the
 * probability of any false rejection at most alpha, under any dependence. Holm's method is never less powerful than
 * Bonferroni's method.
 *
 * The i-th smallest of m p-values becomes max over j <= i of (m - j + 1) p_j, at most 1.
 * @param pValues from 0 to 1 in any order; NaN (an undefined test) is not counted in m and comes last
 * @returns the adjusted values in ascending order, and their indices in the input
 * @throws {ValueError} if a number is outside [0, 1]
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
    for (let index = 0; index < tests; index++) {
      largest = Math.max(largest, (ascending[index] as number) * (tests - index));
      ascending[index] = largest;
    }
  });
}
