/**
 * What float32 may leave of an answer, as a share of it, or of 1 where it is smaller. Each rounding moves a number by
 * at most 2^-24 of its size, 6e-8. WGSL asks more of nobody: it promises sums, differences and products rounded
 * once, and the accuracies below in units of the last place, of 2^-23 at most.
 */

/** Counts, whole numbers, and what is moved and not computed. */
export const EXACT = 0;

const ROUNDING = 2 ** -24;
const LAST_PLACE = 2 ** -23;

/** Some roundings, all one way, of numbers no larger than the answer, or than a given size. */
export function roundings(count: number, size = 1): number {
  return count * size * ROUNDING;
}

/**
 * Sums of products of numbers in [-1, 1]: each term rounds a partial sum of about sqrt(terms) / 3, up or down, which
 * is a random walk with a standard deviation of a seventh of this.
 */
export function sumOf(terms: number): number {
  return roundings(terms + 1);
}

/** Quotients: 2.5 units of the last place. */
export const QUOTIENT = 2.5 * LAST_PLACE;

/** Weighted means of numbers in [0, 1]: two sums, of which each term rounds a share, up or down, and a quotient. */
export function meanOf(terms: number): number {
  return 2 * roundings(1 + 2 * Math.sqrt(terms)) + QUOTIENT;
}

/** Exponentials of numbers up to a size: 3 + 2 |x| units of the last place. */
export function exponential(largest: number): number {
  return (3 + 2 * largest) * LAST_PLACE;
}

/** Logarithms: 2^-21 between 0.5 and 2, else 3 units of the last place. */
export const LOGARITHM = 2 ** -21;

/** log(1 + x), computed as that: one rounding more. */
export const LOGARITHM_OF_ONE_MORE = LOGARITHM + roundings(1);

/** Square roots, as 1 / inverseSqrt(x): 2 and 2.5 units of the last place. */
export const SQUARE_ROOT = 4.5 * LAST_PLACE;

/** 1 / (1 + exp(-x)): the exponential's error counts p (1 - p), at most a unit of the last place, then a sum and a quotient. */
export const SIGMOID = LAST_PLACE + roundings(1) + QUOTIENT;

/** log(1 + exp(-|x|)) + max(-x, 0): the exponential's error, at most 3 units, is passed on as it is. */
export const SOFTPLUS = 3 * LAST_PLACE + LOGARITHM_OF_ONE_MORE + roundings(1);
