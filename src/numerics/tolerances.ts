/**
 * The tolerances are the errors that float32 arithmetic may cause in a result, relative to max(1, |result|). Each
 * rounding changes a number by at most 2^-24 (6e-8) of its absolute value. WGSL guarantees that sums, differences and
 * products are rounded once. The guarantees of WGSL for other functions are stated below in units in the last place.
 * Relative to the number, such a unit is at most 2^-23.
 */

/** The tolerance for counts, integers, and values that are copied without arithmetic. */
export const EXACT = 0;

const ROUNDING = 2 ** -24;
const LAST_PLACE = 2 ** -23;

/**
 * Returns the error of several roundings in the same direction. The function assumes that no rounded number is larger
 * than the result or `size`.
 */
export function roundings(count: number, size = 1): number {
  return count * size * ROUNDING;
}

/**
 * Returns the tolerance for sums of products of numbers in [-1, 1]. With each term, a partial sum of about sqrt(terms)
 * / 3 is rounded up or down. The errors form a random walk with a standard deviation of one seventh of the tolerance.
 */
export function sumOf(terms: number): number {
  return roundings(terms + 1);
}

/** The tolerance for quotients: 2.5 units in the last place. */
export const QUOTIENT = 2.5 * LAST_PLACE;

/**
 * Returns the tolerance for weighted means of numbers in [0, 1]. The tolerance covers a quotient and two sums. In each
 * sum, every term is a share that is rounded up or down.
 */
export function meanOf(terms: number): number {
  return 2 * roundings(1 + 2 * Math.sqrt(terms)) + QUOTIENT;
}

/** Returns the tolerance for exponentials of numbers x with |x| up to `size`: 3 + 2 |x| units in the last place. */
export function exponential(largest: number): number {
  return (3 + 2 * largest) * LAST_PLACE;
}

/** The tolerance for logarithms: 2^-21 between 0.5 and 2, otherwise 3 units in the last place. */
export const LOGARITHM = 2 ** -21;

/** The tolerance for log(1 + x), computed as a sum and a logarithm: one additional rounding. */
export const LOGARITHM_OF_ONE_MORE = LOGARITHM + roundings(1);

/**
 * The tolerance for square roots, which are computed as 1 / inverseSqrt(x): 2 units in the last place for the inverse
 * square root, and 2.5 for the quotient.
 */
export const SQUARE_ROOT = 4.5 * LAST_PLACE;

/**
 * The tolerance for 1 / (1 + exp(-x)). The error of the exponential is multiplied by p (1 - p), where p is the result,
 * so it is at most one unit in the last place. The tolerance adds the errors of a sum and a quotient.
 */
export const SIGMOID = LAST_PLACE + roundings(1) + QUOTIENT;

/**
 * The tolerance for log(1 + exp(-|x|)) + max(-x, 0). The error of the exponential, at most 3 units in the last place,
 * is not reduced by the logarithm.
 */
export const SOFTPLUS = 3 * LAST_PLACE + LOGARITHM_OF_ONE_MORE + roundings(1);
