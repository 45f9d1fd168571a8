/** The repair of one group's values of one column: `from[i]` becomes `to[i]`, with `from` strictly ascending. */
export interface RepairMap {
  readonly group: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** A map in typed arrays, for fast access. */
export interface Knots {
  readonly from: Float64Array;
  readonly to: Float64Array;
}

/** Knots with an index that makes searches fast. */
export interface IndexedKnots extends Knots {
  /** The number of buckets per unit of values. The first bucket starts at the first knot. */
  readonly bucketsPerUnit: number;
  /** The number of knots before each bucket, [buckets + 1]. */
  readonly starts: Int32Array;
}

/** The number of buckets per knot. Most buckets are empty. */
const BUCKETS_PER_KNOT = 4;

/** Counts the knots in evenly spaced buckets, so that a search needs few steps. Takes O(knots) time. */
export function indexKnots({ from, to }: Knots): IndexedKnots {
  const [first, last] = [from[0] as number, from[from.length - 1] as number];
  const ratio = (BUCKETS_PER_KNOT * from.length) / (last - first);
  // One bucket is used for a single knot, and for spans that are too large to divide in float64.
  const bucketsPerUnit = ratio > 0 && ratio < Infinity ? ratio : 0;
  const buckets = bucketsPerUnit > 0 ? BUCKETS_PER_KNOT * from.length : 1;
  const starts = new Int32Array(buckets + 1);
  for (const knot of from) {
    const next = buckets === 1 ? 1 : Math.min(buckets - 1, Math.floor((knot - first) * bucketsPerUnit)) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let bucket = 0; bucket < buckets; bucket++) {
    starts[bucket + 1] = (starts[bucket + 1] as number) + (starts[bucket] as number);
  }
  return { from, to, bucketsPerUnit, starts };
}

/**
 * Returns the index of the last knot at or below a value; -1 if the value is before the first knot. Rounding does not
 * change the order of the buckets, so every knot is found.
 */
function knotBelow({ from, bucketsPerUnit, starts }: IndexedKnots, value: number): number {
  const first = from[0] as number;
  if (!(value >= first)) return -1;
  const isOne = bucketsPerUnit === 0;
  const bucket = isOne ? 0 : Math.min(starts.length - 2, Math.floor((value - first) * bucketsPerUnit));
  let low = starts[bucket] as number;
  let high = starts[bucket + 1] as number;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((from[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Interpolates linearly between the knots. Beyond the knots, it returns the value at the nearest end. The result is
 * monotone because `to` is monotone.
 */
export function interpolate(knots: IndexedKnots, value: number): number {
  const { from, to } = knots;
  const index = knotBelow(knots, value);
  if (index < 0) return to[0] as number;
  const [x, y] = [from[index] as number, to[index] as number];
  if (index === from.length - 1 || x === value) return y;
  const next = to[index + 1] as number;
  return y === next ? y : between(y, next, shareOf(value, x, from[index + 1] as number));
}

/**
 * Interpolates between two values by a share from 0 to 1. The result increases with the share and never exceeds the
 * larger value.
 */
export function between(low: number, high: number, share: number): number {
  const gap = high - low;
  return Math.min(high, gap < Infinity ? low + gap * share : low * (1 - share) + high * share);
}

/** Returns the position of a value between two others, as a share of their distance. */
function shareOf(value: number, low: number, high: number): number {
  // If the difference overflows, it is computed from halved values.
  return high - low < Infinity ? (value - low) / (high - low) : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** Returns the value of the nearest knot. At equal distance, the lower knot is used. */
export function nearestKnot(knots: IndexedKnots, value: number): number {
  const { from, to } = knots;
  const below = knotBelow(knots, value);
  const above = Math.min(below + 1, from.length - 1);
  if (below < 0) return to[above] as number;
  const isLower = value - (from[below] as number) <= Math.abs((from[above] as number) - value);
  return to[isLower ? below : above] as number;
}
