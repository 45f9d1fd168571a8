import { requireSample, requireSharePair } from './require-sample.ts';

/** This value replaces a share of 0 if all nonzero shares are larger than this value. */
const IN_PLACE_OF_ZERO = 1e-4;

/**
 * If another nonzero share is {@link IN_PLACE_OF_ZERO} or less, a share of 0 is replaced by this fraction of the
 * smallest nonzero share.
 */
const SHARE_OF_SMALLEST = 1e-6;

/** A population stability index of two samples, with the bins used. */
export interface BinnedStability {
  readonly value: number;
  /** The edges of the bins in ascending order. Each bin includes its lower edge. The last bin includes both edges. */
  readonly edges: readonly number[];
  /** The share of the reference in each bin, before zeros were replaced. */
  readonly referenceShares: readonly number[];
  readonly currentShares: readonly number[];
  /** The sizes of the samples. */
  readonly sizes: readonly [reference: number, current: number];
}

/**
 * Computes the population stability index of two distributions over the same categories: the sum of (q - p) ln(q / p),
 * where p are the reference shares and q the current shares.
 *
 * A share of 0 has no logarithm and is replaced by 0.0001. If the smallest other share of the same distribution is
 * 0.0001 or less, the share of 0 is replaced by a millionth of that share instead. One empty category can therefore
 * increase the index considerably, so merge rare categories. By convention, a value below 0.1 means no drift and a
 * value above 0.25 means large drift. The index grows with the number of categories. If there are few rows, chance also
 * increases the index.
 * @param reference shares or counts; they are divided by their sum
 * @param current current shares or counts, over the same categories in the same order
 * @returns the index; 0 if the shares are equal. The index does not change if the two distributions are exchanged
 * @throws {DataValidationError} if the lengths differ, there is no category, a share is negative or not finite, or the
 *   shares sum to 0
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
 * Computes the population stability index of two samples of numbers, in bins of equal width over their pooled range.
 * The number of bins follows Sturges' rule for the pooled number of values.
 * @returns the index with its bins; the index is 0 if all values are equal
 * @throws {DataValidationError} if a sample is empty or has a value that is not finite
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
  const smallest = shares.reduce((min, share) => (share > 0 ? Math.min(min, share) : min), Infinity);
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

/** Returns the index of the last edge that is at most the value, by bisection. */
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
 * Returns the edges of bins of equal width over the pooled range of two samples. There are ceil(log2(n) + 1) bins for n
 * pooled values (H. A. Sturges 1926; numpy's `histogram_bin_edges` with `sturges`). If all values are equal, there is
 * one bin of width 1 centred on them.
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
  // Halving first avoids an overflow if the range covers all of float64.
  const step = (high / 2 - low / 2) / (bins / 2);
  return Array.from({ length: bins + 1 }, (_, index) => (index === bins ? high : low + index * step));
}
