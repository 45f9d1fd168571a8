import type { Random } from '../internal/random.ts';

/**
 * The table covers the mode ± 9 standard deviations, extended by 12 successes on each side. The probability outside the
 * table is less than 3e-19 (SciPy), which no uniform number with 53 bits can reach.
 */
const REACH = { deviations: 9, successes: 12 };

/**
 * The number of equal parts into which the guide table divides [0, 1). Because it is a power of two, the part that
 * contains a number can be found without rounding.
 */
const PARTS = 256;

/**
 * Returns a sampler of one binomial distribution that uses inversion in a {@link BinomialTable}.
 * @param trials n, 1 or more
 * @param rate p, strictly between 0 and 1
 */
export function createBinomialSampler(trials: number, rate: number, random: Random): () => number {
  const table = new BinomialTable(trials, rate);
  return () => table.first + table.indexOf(random.next());
}

/**
 * A table of a binomial distribution for sampling by inversion. The table contains the cumulative probabilities near
 * the mean, computed from the mode outward with p(k + 1) / p(k) = (n - k) / (k + 1) * p / (1 - p). A guide table (Chen
 * and Asau 1974) gives the start of each search, which is usually also the result. Building the table takes O(sqrt(n))
 * time. A draw takes about sqrt(n) / 50 steps on average. Draws are exact up to rounding.
 */
export class BinomialTable {
  /** The number of successes at index 0. Each further index means one more success. */
  readonly first: number;
  readonly size: number;
  /** The cumulative probabilities, divided by the probability of the mode. */
  readonly cumulated: Float64Array;
  /** The index at which the search for each part of [0, 1) starts. */
  readonly guide: Int32Array;

  /**
   * @param trials n, 1 or more
   * @param rate p, strictly between 0 and 1
   */
  constructor(trials: number, rate: number) {
    const reach = Math.ceil(REACH.deviations * Math.sqrt(trials * rate * (1 - rate))) + REACH.successes;
    const mode = Math.min(trials, Math.floor((trials + 1) * rate));
    this.first = Math.max(0, mode - reach);
    this.size = Math.min(trials, mode + reach) - this.first + 1;
    this.cumulated = cumulate(weigh(trials, rate, mode, this.first, this.size));
    this.guide = guideTo(this.cumulated);
  }

  /**
   * Returns the index for a number in [0, 1): the first index whose cumulative probability is larger than the number.
   */
  indexOf(share: number): number {
    return searchTable(this.cumulated, this.guide, share);
  }
}

/** Returns {@link BinomialTable.indexOf}. Loops over many draws call this function, because a method costs more. */
export function searchTable(cumulated: Float64Array, guide: Int32Array, share: number): number {
  const end = cumulated.length - 1;
  const bound = share * (cumulated[end] as number);
  let position = guide[Math.floor(share * PARTS)] as number;
  while (position < end && (cumulated[position] as number) <= bound) position++;
  return position;
}

/** Computes the probabilities of `size` consecutive counts from `first`, divided by the probability of the mode. */
function weigh(trials: number, rate: number, mode: number, first: number, size: number): Float64Array {
  const odds = rate / (1 - rate);
  const weights = new Float64Array(size);
  const last = first + size - 1;
  let above = 1;
  let below = 1;
  weights[mode - first] = 1;
  // Both directions are computed in one loop, because each weight must wait for the division of the one before.
  for (let up = mode, down = mode; up < last || down > first; up++, down--) {
    if (up < last) {
      above = (above * (trials - up) * odds) / (up + 1);
      weights[up + 1 - first] = above;
    }
    if (down > first) {
      below = (below * down) / ((trials - down + 1) * odds);
      weights[down - 1 - first] = below;
    }
  }
  return weights;
}

/** Replaces each value by the sum of all values up to this value, in place. */
function cumulate(values: Float64Array): Float64Array {
  for (let index = 1; index < values.length; index++) {
    values[index] = (values[index] as number) + (values[index - 1] as number);
  }
  return values;
}

/**
 * Returns the start index of each part of [0, 1): the index of the smallest number in the part. No number in the part
 * has a smaller index.
 */
function guideTo(cumulated: Float64Array): Int32Array {
  const guide = new Int32Array(PARTS);
  const end = cumulated.length - 1;
  let index = 0;
  for (let part = 0; part < PARTS; part++) {
    const bound = (part / PARTS) * (cumulated[end] as number);
    while (index < end && (cumulated[index] as number) <= bound) index++;
    guide[part] = index;
  }
  return guide;
}
