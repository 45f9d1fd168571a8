import type { Random } from '../internal/random.ts';

/** How far from the mean a draw may lie: beyond 12 standard deviations and 12 successes less than 1e-30 is lost. */
const REACH = 12;

/** Parts of [0, 1) that draws begin from; a power of two, so that a number's part is found without rounding. */
const PARTS = 256;

/**
 * A sampler of one binomial distribution, by inversion in a {@link BinomialTable}.
 * @param trials n, 1 or more
 * @param rate p, strictly between 0 and 1
 */
export function createBinomialSampler(trials: number, rate: number, random: Random): () => number {
  const table = new BinomialTable(trials, rate);
  return () => table.first + table.placeOf(random.next());
}

/**
 * A binomial distribution to be drawn from: the cumulated probabilities within
 * reach of the mean, from the mode outward by
 * p(k + 1) / p(k) = (n - k) / (k + 1) * p / (1 - p), and a guide (Chen and Asau
 * 1974) to where the search for a number begins, which is mostly where it ends.
 * Making it costs O(sqrt(n)), a draw some sqrt(n) / 50 steps on average; exact to rounding.
 */
export class BinomialTable {
  /** The successes at place 0; each place has one more than that before. */
  readonly first: number;
  readonly places: number;
  readonly #cumulated: Float64Array;
  readonly #guide: Int32Array;
  readonly #total: number;

  /**
   * @param trials n, 1 or more
   * @param rate p, strictly between 0 and 1
   */
  constructor(trials: number, rate: number) {
    const reach = Math.ceil(REACH * Math.sqrt(trials * rate * (1 - rate))) + REACH;
    const mode = Math.min(trials, Math.floor((trials + 1) * rate));
    this.first = Math.max(0, mode - reach);
    this.places = Math.min(trials, mode + reach) - this.first + 1;
    this.#cumulated = cumulate(weigh(trials, rate, mode, this.first, this.places));
    this.#guide = guideTo(this.#cumulated);
    this.#total = this.#cumulated[this.places - 1] as number;
  }

  /** The place that a number in [0, 1) falls into: the first with a cumulated probability above it. */
  placeOf(share: number): number {
    const cumulated = this.#cumulated;
    const end = this.places - 1;
    const bound = share * this.#total;
    let place = this.#guide[Math.floor(share * PARTS)] as number;
    while (place < end && (cumulated[place] as number) <= bound) place++;
    return place;
  }
}

/** Probabilities of `places` counts from `first`, times a number that makes the mode's 1. */
function weigh(trials: number, rate: number, mode: number, first: number, places: number): Float64Array {
  const odds = rate / (1 - rate);
  const weights = new Float64Array(places);
  weights[mode - first] = 1;
  for (let k = mode; k < first + places - 1; k++) {
    weights[k + 1 - first] = ((weights[k - first] as number) * (trials - k) * odds) / (k + 1);
  }
  for (let k = mode; k > first; k--) {
    weights[k - 1 - first] = ((weights[k - first] as number) * k) / ((trials - k + 1) * odds);
  }
  return weights;
}

/** Each value and all before it, in place. */
function cumulate(values: Float64Array): Float64Array {
  for (let place = 1; place < values.length; place++) {
    values[place] = (values[place] as number) + (values[place - 1] as number);
  }
  return values;
}

/** For each part its first place: that of the part's least number, so that no other of its numbers is below. */
function guideTo(cumulated: Float64Array): Int32Array {
  const guide = new Int32Array(PARTS);
  const end = cumulated.length - 1;
  let place = 0;
  for (let part = 0; part < PARTS; part++) {
    const bound = (part / PARTS) * (cumulated[end] as number);
    while (place < end && (cumulated[place] as number) <= bound) place++;
    guide[part] = place;
  }
  return guide;
}
