import { sumOf } from '../../internal/values.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import { requireInteger } from '../parameters.ts';
import { quantileSorted } from '../quantile.ts';

/** The pairwise distances between the answers of two groups to one question. */
export interface DivergenceUnit {
  /** The number of answers of the first group, at least 2. These answers come first in `distances`. */
  readonly first: number;
  /** The number of answers of the second group, at least 2. */
  readonly second: number;
  /** The distance matrix, [(first + second)^2] row by row. The matrix is symmetric and 0 on the diagonal. */
  readonly distances: ArrayLike<number>;
}

/** Options of {@link excessDivergence}. */
export interface ExcessDivergenceOptions {
  /**
   * The number of permutations. The smallest possible p-value is 1 / (samples + 1).
   * @defaultValue 4999
   */
  readonly samples?: number | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

const EXCESS_DIVERGENCE_OPTION_NAMES: OptionNames<ExcessDivergenceOptions> = { samples: true, seed: true };

/** The excess of the distance between two groups over the distance within each group. */
export interface ExcessDivergence {
  /** The mean distance between an answer of one group and an answer of the other group; NaN if there are no units. */
  readonly between: number;
  /** The mean distance between two answers of the same group: the noise floor. */
  readonly within: number;
  /** The excess of each unit: `between` minus `within`. */
  readonly excesses: readonly number[];
  /** The mean of `excesses`. */
  readonly excess: number;
  /**
   * The probability of at least the observed excess if answers do not depend on the group; NaN if there are no units.
   */
  readonly pValue: number;
  /**
   * The mean excess of the random permutations; NaN if there are no units. This mean estimates the excess if the group
   * has no effect, and is close to 0.
   */
  readonly nullMean: number;
  /** The 0.95 quantile of the excesses of the random permutations; NaN if there are no units. */
  readonly nullQuantile: number;
}

/**
 * If the answers of a unit can be assigned to the groups in at most this number of ways, the excess of every assignment
 * is computed in advance. Otherwise, random permutations are drawn.
 */
const LARGEST_TABLE = 252;

const ROUNDING = 1e-12;

/**
 * Computes the excess of the distance between the answers of two groups over the noise of repeated answers: the mean
 * over units of
 *
 *     mean distance between groups - (mean distance within the first + within the second) / 2
 *
 * with a permutation test. If the group has no effect, the answers of a unit may be assigned to the groups at random.
 * The p-value is (1 + hits) / (1 + samples), where hits is the number of permutations whose excess is at least the
 * observed excess. Each permutation reassigns the answers of all units. The test is one-sided: only a larger distance
 * between groups than within groups is evidence for an effect.
 *
 * If the answers do not depend on the group, the excess is 0 on average for any distance. The excess may be negative by
 * chance. For a distance that defines an energy distance, the excess is half of the energy distance (Székely and
 * Rizzo).
 * @param units the distances for each of several independent questions. Each question needs at least two answers of
 *   each group
 * @throws {ValueError} if a unit has fewer than two answers of a group, or if its distance matrix has the wrong size
 * @see G. Székely, M. Rizzo, Energy statistics: A class of statistics based on distances (2013)
 * @example
 * ```ts
 * import { excessDivergence } from 'evenhand/stats';
 *
 * const distances = [0, 0.1, 0.5, 0.5, 0.1, 0, 0.5, 0.5, 0.5, 0.5, 0, 0.1, 0.5, 0.5, 0.1, 0];
 * const units = Array.from({ length: 5 }, () => ({ first: 2, second: 2, distances }));
 * const { between, within, excess, pValue } = excessDivergence(units);
 * console.log(between, within, excess.toFixed(1), pValue < 0.01);
 * // 0.5 0.1 0.4 true
 * ```
 */
export function excessDivergence(
  units: readonly DivergenceUnit[],
  options: ExcessDivergenceOptions = {},
): ExcessDivergence {
  assertKnownOptions('excessDivergence', options, EXCESS_DIVERGENCE_OPTION_NAMES);
  const { samples = 4999, seed = 42 } = options;
  requireInteger('samples', samples, 1);
  requireInteger('seed', seed, Number.MIN_SAFE_INTEGER);
  units.forEach(requireUnit);
  if (units.length === 0)
    return { between: NaN, within: NaN, excesses: [], excess: NaN, pValue: NaN, nullMean: NaN, nullQuantile: NaN };
  const observed = units.map((unit) => measure(unit, inOrder(unit)));
  const excesses = observed.map(({ between, within }) => between - within);
  const total = sumOf(excesses);
  const dealers = units.map(dealer);
  const random = createRandom(seed);
  const slack = ROUNDING * sumOf(observed.map(({ between, within }) => between + within));
  const dealt = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    let sum = 0;
    for (const deal of dealers) sum += deal(random);
    dealt[sample] = sum;
  }
  const hits = dealt.reduce((count, sum) => count + Number(sum >= total - slack), 0);
  return {
    between: sumOf(observed.map(({ between }) => between)) / units.length,
    within: sumOf(observed.map(({ within }) => within)) / units.length,
    excesses,
    excess: total / units.length,
    pValue: (1 + hits) / (samples + 1),
    nullMean: dealt.reduce((sum, value) => sum + value, 0) / samples / units.length,
    nullQuantile: quantileSorted(dealt.sort(), 0.95) / units.length,
  };
}

function inOrder({ first, second }: DivergenceUnit): Int32Array {
  return Int32Array.from({ length: first + second }, (_, index) => index);
}

/** @param order the indices of the answers. The first `first` indices belong to the first group */
function measure({ first, second, distances }: DivergenceUnit, order: Int32Array): { between: number; within: number } {
  const size = first + second;
  let [between, inFirst, inSecond] = [0, 0, 0];
  for (let i = 1; i < size; i++) {
    const row = (order[i] as number) * size;
    const ofFirst = Math.min(i, first);
    let sum = i < first ? inFirst : between;
    for (let j = 0; j < ofFirst; j++) sum += distances[row + (order[j] as number)] as number;
    if (i < first) inFirst = sum;
    else between = sum;
    for (let j = first; j < i; j++) inSecond += distances[row + (order[j] as number)] as number;
  }
  const pairs = (n: number): number => (n * (n - 1)) / 2;
  return { between: between / (first * second), within: (inFirst / pairs(first) + inSecond / pairs(second)) / 2 };
}

/** Returns a function that draws the excess of one random permutation. */
function dealer(unit: DivergenceUnit): (random: Random) => number {
  const size = unit.first + unit.second;
  if (choices(size, unit.first) <= LARGEST_TABLE) {
    const table = Float64Array.from(deals(size, unit.first), (order) => excessOf(unit, order));
    return (random) => table[random.integer(table.length)] as number;
  }
  const order = inOrder(unit);
  return (random) => {
    for (let last = size - 1; last > 0; last--) {
      const other = random.integer(last + 1);
      const kept = order[last] as number;
      order[last] = order[other] as number;
      order[other] = kept;
    }
    return excessOf(unit, order);
  };
}

function excessOf(unit: DivergenceUnit, order: Int32Array): number {
  const { between, within } = measure(unit, order);
  return between - within;
}

/** Returns the number of subsets of size k of n elements. */
function choices(n: number, k: number): number {
  let count = 1;
  for (let step = 1; step <= k; step++) count = (count * (n - k + step)) / step;
  return count;
}

/** Returns all ways to choose `first` of `size` indices. In each way, the chosen indices come first. */
function deals(size: number, first: number): Int32Array[] {
  const found: Int32Array[] = [];
  const choose = (chosen: readonly number[], next: number): void => {
    if (chosen.length === first) {
      const rest = Array.from({ length: size }, (_, index) => index).filter((index) => !chosen.includes(index));
      found.push(Int32Array.from([...chosen, ...rest]));
      return;
    }
    for (let index = next; index < size; index++) choose([...chosen, index], index + 1);
  };
  choose([], 0);
  return found;
}

function requireUnit({ first, second, distances }: DivergenceUnit, index: number): void {
  const size = first + second;
  const isUsable = first >= 2 && second >= 2 && distances.length === size * size;
  if (isUsable && Array.prototype.every.call(distances, Number.isFinite)) return;
  const required = 'have at least two answers of each group and a finite distance for each pair';
  throw invalidParameter(
    `units[${String(index)}]`,
    required,
    `${String(first)} and ${String(second)} answers, ${String(distances.length)} distances`,
  );
}
