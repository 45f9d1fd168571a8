/** What becomes of one group's values of one column: `to[i]` of `from[i]`, `from` strictly ascending. */
export interface RepairMap {
  readonly group: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** A map in typed arrays, for many values. */
export interface Knots {
  readonly from: Float64Array;
  readonly to: Float64Array;
}

/** Knots with an index of where to look for a value. */
export interface IndexedKnots extends Knots {
  /** How many buckets a unit of values has; the first starts at the first knot. */
  readonly bucketsPerUnit: number;
  /** [buckets + 1]: how many knots lie in earlier buckets. */
  readonly starts: Int32Array;
}

/** Buckets for each knot: enough that most have none. */
const BUCKETS_PER_KNOT = 4;

/** Counts the knots of even buckets, so that a search starts near its end: O(knots), once. */
export function indexKnots({ from, to }: Knots): IndexedKnots {
  const [first, last] = [from[0] as number, from[from.length - 1] as number];
  const ratio = (BUCKETS_PER_KNOT * from.length) / (last - first);
  // One bucket for one knot, and for spans beyond what a double can divide.
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

/** The place of the last knot at or below a value; -1 before the first. Rounding keeps the order of buckets, so no knot is missed. */
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

/** Straight lines between the knots, the end values beyond them: monotone, since `to` is. */
export function interpolate(knots: IndexedKnots, value: number): number {
  const { from, to } = knots;
  const place = knotBelow(knots, value);
  if (place < 0) return to[0] as number;
  const [x, y] = [from[place] as number, to[place] as number];
  if (place === from.length - 1 || x === value) return y;
  const next = to[place + 1] as number;
  return y === next ? y : between(y, next, shareOf(value, x, from[place + 1] as number));
}

/** The value a share of the way from one to a larger one: never past it, and rising with the share. */
export function between(low: number, high: number, share: number): number {
  const gap = high - low;
  return Math.min(high, gap < Infinity ? low + gap * share : low * (1 - share) + high * share);
}

/** How far a value lies from one to a larger one. */
function shareOf(value: number, low: number, high: number): number {
  // In halves where the whole is beyond what a double can hold.
  return high - low < Infinity ? (value - low) / (high - low) : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** The value of the nearest knot, of the lower one at equal distance. */
export function nearestKnot(knots: IndexedKnots, value: number): number {
  const { from, to } = knots;
  const below = knotBelow(knots, value);
  const above = Math.min(below + 1, from.length - 1);
  if (below < 0) return to[above] as number;
  const isLower = value - (from[below] as number) <= Math.abs((from[above] as number) - value);
  return to[isLower ? below : above] as number;
}
