import { sumOf } from '../../internal/values.ts';
import { requireInteger } from '../parameters.ts';

/** The relative tolerance within which two tables are treated as equally likely, as in R. */
const ROUNDING = 1e-7;

/** Counts of two groups (rows) by two outcomes (columns). */
export type TwoByTwoTable = readonly [first: readonly [a: number, b: number], second: readonly [c: number, d: number]];

/** The result of Fisher's exact test. */
export interface FisherExactResult {
  /** The two-sided p-value, in (0, 1]. */
  readonly pValue: number;
  /** The odds ratio of the sample, a d / (b c); Infinity if b c is 0, NaN if a row or a column is empty. */
  readonly oddsRatio: number;
  /** The number of data rows, which is the sum of all counts. */
  readonly n: number;
}

/**
 * Performs Fisher's exact test of a two by two table. The p-value is the probability of a table that is at most as
 * likely as the observed table, given all row and column sums and no association.
 *
 * The test is valid for counts of any size. A table with an empty row or column contains no information, and its
 * p-value is 1.
 * @throws {ValueError} if a count is not an integer of at least 0
 * @see R. A. Fisher, The logic of inductive inference (1935)
 * @example
 * ```ts
 * import { fisherExactTest } from 'evenhand/stats';
 *
 * console.log(fisherExactTest([[8, 22], [20, 30]]).pValue.toFixed(4));
 * // 0.3330
 * ```
 */
export function fisherExactTest(table: TwoByTwoTable): FisherExactResult {
  const [[a, b], [c, d]] = table;
  Object.entries({ a, b, c, d }).forEach(([name, count]) => requireInteger(`table's ${name}`, count, 0));
  const odds = Math.min(a + b, c + d, a + c, b + d) === 0 ? NaN : (a * d) / (b * c);
  return Object.freeze({ pValue: twoSided(a, b, c, d), oddsRatio: odds, n: a + b + c + d });
}

/**
 * Computes the p-value from the probabilities of all tables with the same row and column sums, relative to the most
 * likely table. Adding 1 to both cells on the diagonal multiplies the probability by b c / ((a + 1) (d + 1)), so no
 * factorial is needed.
 */
function twoSided(a: number, b: number, c: number, d: number): number {
  const likeliest = Math.floor(((a + b + 1) * (a + c + 1)) / (a + b + c + d + 2));
  const more = likeliest - a;
  const up = chancesFrom(a + more, b - more, c - more, d + more);
  // The other direction is the same calculation with exchanged columns.
  const down = chancesFrom(b - more, a + more, d + more, c - more);
  const observed = more === 0 ? 1 : ((more < 0 ? up : down)[Math.abs(more) - 1] ?? 0);
  const chances = [1, ...up, ...down];
  const rare = chances.filter((chance) => chance <= observed * (1 + ROUNDING));
  // A tail probability may be too small for float64, but it is never 0.
  return Math.max(Number.MIN_VALUE, sumOf(rare) / sumOf(chances));
}

/**
 * Returns the probabilities of the tables with 1, 2, ... added to both cells on the diagonal, until they underflow to
 * 0.
 */
function chancesFrom(a: number, b: number, c: number, d: number): number[] {
  const chances: number[] = [];
  let chance = 1;
  for (let more = 1; more <= Math.min(b, c) && chance > 0; more++) {
    chance *= ((b - more + 1) * (c - more + 1)) / ((a + more) * (d + more));
    chances.push(chance);
  }
  return chances;
}
