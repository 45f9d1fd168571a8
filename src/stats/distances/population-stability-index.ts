import { requireSample, requireSharePair } from './require-sample.ts';

/** What a share of 0 counts as, where all others are larger. */
const IN_PLACE_OF_ZERO = 1e-4;

/** Where shares as small as that occur, a share of 0 counts as so much of the smallest. */
const SHARE_OF_SMALLEST = 1e-6;

/** A population stability index of two samples, with the bins that it was found in. */
export interface BinnedStability {
  readonly value: number;
  /** The ends of the bins, ascending; each bin holds its lower end, the last one both. */
  readonly edges: readonly number[];
  /** The share of the reference in each bin, before zeros were replaced. */
  readonly referenceShares: readonly number[];
  readonly currentShares: readonly number[];
  /** The sizes of the samples. */
  readonly sizes: readonly [reference: number, current: number];
}

/**
 * The population stability index of two laws over the same categories: the
 * sum of (q - p) ln(q / p), p being the reference's shares and q the current ones.
 *
 * A share of 0 has no logarithm and counts as 0.0001, or as a millionth of the
 * smallest other share of its own law where that is 0.0001 or less. One empty category
 * therefore adds much: merge rare ones. By custom below 0.1 is no drift and above 0.25 much;
 * the index grows with the number of categories, and with few rows by chance alone.
 * @param reference shares or counts; they are divided by their sum
 * @param current the same, over the same categories in the same order
 * @returns 0 for equal shares; the order of the two does not matter
 * @throws {DataValidationError} for lengths that differ, no category, a share that is negative or not finite, or no sum
 * @see N. Siddiqi, Credit Risk Scorecards (2006)
 * @example
 * ```ts
 * import { populationStabilityIndex } from 'evenhand/stats';
 *
 * console.log(populationStabilityIndex([50, 30, 20], [40, 30, 30]).toFixed(4));
 * // 0.0629
 * ```
 */
export function populationStabilityIndex(reference: ArrayLike<number>, current: ArrayLike<number>): number {
  const [p, q] = requireSharePair(reference, current);
  return indexOf(withoutZeros(p), withoutZeros(q));
}

/**
 * The population stability index of two samples of numbers, in equal bins over
 * their pooled range, as many as Sturges' rule gives for the pooled number of values.
 * @returns with value 0 where all values are equal
 * @throws {DataValidationError} for a sample without values or with one that is not finite
 * @example
 * ```ts
 * import { binnedPopulationStabilityIndex } from 'evenhand/stats';
 *
 * const { value, edges } = binnedPopulationStabilityIndex([1, 2, 3, 4], [1, 2, 4, 5]);
 * console.log(value.toFixed(4), edges.join(' '));
 * // 2.1285 1 2 3 4 5
 * ```
 */
export function binnedPopulationStabilityIndex(
  reference: ArrayLike<number>,
  current: ArrayLike<number>,
): BinnedStability {
  const first = requireSample('reference', reference);
  const second = requireSample('current', current);
  const edges = sturgesEdges(first, second);
  const [p, q] = [sharesIn(edges, first), sharesIn(edges, second)];
  return Object.freeze({
    value: indexOf(withoutZeros(p), withoutZeros(q)),
    edges: Object.freeze(edges),
    referenceShares: Object.freeze([...p]),
    currentShares: Object.freeze([...q]),
    sizes: Object.freeze([first.length, second.length] as const),
  });
}

function indexOf(p: Float64Array, q: Float64Array): number {
  return p.reduce((sum, share, index) => {
    const other = q[index] as number;
    return sum + (other - share) * Math.log(other / share);
  }, 0);
}

function withoutZeros(shares: Float64Array): Float64Array {
  const smallest = shares.reduce((least, share) => (share > 0 ? Math.min(least, share) : least), Infinity);
  const instead = smallest <= IN_PLACE_OF_ZERO ? smallest * SHARE_OF_SMALLEST : IN_PLACE_OF_ZERO;
  return shares.map((share) => (share === 0 ? instead : share));
}

function sharesIn(edges: readonly number[], values: Float64Array): Float64Array {
  const counts = new Float64Array(edges.length - 1);
  for (const value of values) {
    const bin = Math.min(binOf(edges, value), counts.length - 1);
    counts[bin] = (counts[bin] as number) + 1;
  }
  return counts.map((count) => count / values.length);
}

/** The last edge that is at most the value, by halving. */
function binOf(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((edges[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The edges of equal bins over the pooled range of two samples, with
 * ceil(log2(n) + 1) bins for n values in all (H. A. Sturges 1926; numpy's
 * `histogram_bin_edges` with `sturges`). Where all values are equal: one bin of width 1 about them.
 */
function sturgesEdges(first: Float64Array, second: Float64Array): number[] {
  let [low, high] = [Infinity, -Infinity];
  for (const sample of [first, second]) {
    for (const value of sample) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low === high) return [low - 0.5, high + 0.5];
  const bins = Math.ceil(Math.log2(first.length + second.length) + 1);
  // Halves first, so that a range of all of float64 does not overflow.
  const step = (high / 2 - low / 2) / (bins / 2);
  return Array.from({ length: bins + 1 }, (_, index) => (index === bins ? high : low + index * step));
}
