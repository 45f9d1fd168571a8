import { between, type IndexedKnots, indexKnots, interpolate, type Knots } from './repair-map.ts';

/**
 * The maximum number of ranks. If the groups have more ranks, quantiles are computed at this number of evenly spaced
 * ranks, a thousandth apart.
 */
const MAX_RANKS = 1001;

/**
 * If a rank differs from the rank of an order statistic by less than this tolerance, both ranks are treated as equal.
 */
const ROUNDING = 1e-9;

/**
 * Computes the full repair of one column (Feldman et al. 2015): a value at rank r of its group moves to the median,
 * over the groups, of the groups' values at rank r. Quantiles are of type 7. Tied values have several ranks, and move
 * to the mean of the values for these ranks. Groups that have the same values in different shares therefore have the
 * same mean after repair. If the groups have at most 1,001 ranks in total, these ranks are used, and every training
 * value is repaired exactly. Otherwise, quantiles are computed at 1,001 evenly spaced ranks and interpolated linearly.
 *
 * Takes O(ranks groups log groups) time and returns at most 1,001 knots per group.
 * @param groups each ascending and not empty
 * @returns one map per group
 */
export function quantileRepair(groups: readonly Float64Array[]): Knots[] {
  const ranks = jointRanks(groups.map((values) => values.length));
  const values = new Float64Array(groups.length);
  const medians = Float64Array.from(ranks, (rank) => {
    groups.forEach((group, index) => (values[index] = valueAtRank(group, rank)));
    return valueAtRank(values.sort(), 0.5);
  });
  const target = indexKnots({ from: Float64Array.from(ranks), to: medians });
  return groups.map((group) => knotsOf(group, target));
}

function jointRanks(sizes: readonly number[]): number[] {
  const ranks = new Set<number>();
  for (const size of new Set(sizes)) {
    for (const rank of ranksOf(size)) ranks.add(rank);
    if (ranks.size > MAX_RANKS) return evenRanks(MAX_RANKS);
  }
  return [...ranks].sort((a, b) => a - b);
}

/**
 * Returns the ranks i / (n - 1) of a group's values, or evenly spaced ranks if there are too many values. For a group
 * of one value, the rank is 1/2.
 */
function ranksOf(size: number): number[] {
  return size === 1 ? [0.5] : evenRanks(Math.min(size, MAX_RANKS));
}

function evenRanks(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index / (count - 1));
}

/**
 * Returns the type 7 quantile. If a rank differs from the rank of an order statistic only by rounding, returns the
 * order statistic.
 */
function valueAtRank(sorted: Float64Array, rank: number): number {
  const position = (sorted.length - 1) * rank;
  const nearest = Math.round(position);
  if (Math.abs(position - nearest) < ROUNDING) return sorted[nearest] as number;
  const below = Math.floor(position);
  return between(sorted[below] as number, sorted[below + 1] as number, position - below);
}

/** Returns one knot per distinct value. */
function knotsOf(sorted: Float64Array, target: IndexedKnots): Knots {
  const ranks = ranksOf(sorted.length);
  const values = ranks.map((rank) => valueAtRank(sorted, rank));
  const repaired = ranks.map((rank) => interpolate(target, rank));
  const from: number[] = [];
  const to: number[] = [];
  let first = 0;
  while (first < values.length) {
    let end = first + 1;
    while (end < values.length && values[end] === values[first]) end++;
    from.push(values[first] as number);
    to.push(meanBetween(repaired, first, end));
    first = end;
  }
  return { from: Float64Array.from(from), to: Float64Array.from(to) };
}

/** Computes the mean of a range of ascending values, clipped to the range so that rounding cannot exceed it. */
function meanBetween(ascending: readonly number[], first: number, end: number): number {
  let mean = 0;
  for (let index = first; index < end; index++) mean += ((ascending[index] as number) - mean) / (index - first + 1);
  return Math.min(Math.max(mean, ascending[first] as number), ascending[end - 1] as number);
}
