import { ROUNDING } from './grid.ts';

/** One place on the grid per curve, and what they come to. */
export interface PlacesWithinTolerance {
  readonly places: readonly number[];
  /** The weighted sum of the curves' values there. */
  readonly maximum: number;
}

/**
 * The places on a common grid, one per curve, at which the weighted sum of the
 * curves is largest while the places are at most `tolerance` apart. Equal sums:
 * the places closer together, then those further right.
 *
 * A window of that width slides over the grid; each curve's largest value in it
 * is at the head of a queue whose values fall. O(curves x grid).
 * @param x the grid, rising
 * @param curves one value per grid point each
 * @param weights one per curve
 */
export function bestWithinTolerance(
  x: Float64Array,
  curves: readonly Float64Array[],
  weights: ArrayLike<number>,
  tolerance: number,
): PlacesWithinTolerance {
  const windows = curves.map((curve) => new WindowMaximum(curve));
  let best: PlacesWithinTolerance = { places: [], maximum: -Infinity };
  let bestSpread = Infinity;
  let start = 0;
  for (let end = 0; end < x.length; end++) {
    while ((x[end] as number) - (x[start] as number) > tolerance + ROUNDING) start++;
    const places = windows.map((window) => window.slide(start, end));
    const maximum = places.reduce(
      (sum, place, k) => sum + (weights[k] as number) * ((curves[k] as Float64Array)[place] as number),
      0,
    );
    if (maximum < best.maximum - ROUNDING) continue;
    const spread = spreadOf(places, x);
    if (maximum <= best.maximum + ROUNDING && spread > bestSpread) continue;
    best = { places, maximum };
    bestSpread = spread;
  }
  return best;
}

function spreadOf(places: readonly number[], x: Float64Array): number {
  let [least, most] = [Infinity, -Infinity];
  for (const place of places) {
    least = Math.min(least, place);
    most = Math.max(most, place);
  }
  return (x[most] as number) - (x[least] as number);
}

/** Where the largest value of a window is that moves right; of equal ones the last. */
class WindowMaximum {
  readonly #values: Float64Array;
  /** Places in the window, each of a value larger than all later ones. */
  readonly #queue: Int32Array;
  #head = 0;
  #size = 0;

  constructor(values: Float64Array) {
    this.#values = values;
    this.#queue = new Int32Array(values.length);
  }

  /** Takes in the value at `end`, and lets go of those before `start`. */
  slide(start: number, end: number): number {
    const value = this.#values[end] as number;
    while (this.#size > this.#head && this.#last() <= value) this.#size--;
    this.#queue[this.#size++] = end;
    while ((this.#queue[this.#head] as number) < start) this.#head++;
    return this.#queue[this.#head] as number;
  }

  /** The value at the queue's end, its least. */
  #last(): number {
    return this.#values[this.#queue[this.#size - 1] as number] as number;
  }
}
