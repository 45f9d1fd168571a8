import type { Random } from '../internal/random.ts';

/** How far from the mean a draw may lie: beyond 12 standard deviations and 12 successes less than 1e-30 is lost. */
const REACH = 12;

/**
 * A sampler of one binomial distribution, by inversion: the cumulated
 * probabilities within reach of the mean are tabled once, from the mode outward
 * by p(k + 1) / p(k) = (n - k) / (k + 1) * p / (1 - p), and each draw is a
 * binary search. Making it costs O(sqrt(n)), a draw O(log n); exact to rounding.
 * @param trials n, 1 or more
 * @param rate p, strictly between 0 and 1
 */
export function createBinomialSampler(trials: number, rate: number, random: Random): () => number {
  const reach = Math.ceil(REACH * Math.sqrt(trials * rate * (1 - rate))) + REACH;
  const mode = Math.min(trials, Math.floor((trials + 1) * rate));
  const first = Math.max(0, mode - reach);
  const last = Math.min(trials, mode + reach);
  const odds = rate / (1 - rate);
  const weights = new Float64Array(last - first + 1);
  weights[mode - first] = 1;
  for (let k = mode; k < last; k++) {
    weights[k + 1 - first] = ((weights[k - first] as number) * (trials - k) * odds) / (k + 1);
  }
  for (let k = mode; k > first; k--) {
    weights[k - 1 - first] = ((weights[k - first] as number) * k) / ((trials - k + 1) * odds);
  }
  for (let place = 1; place < weights.length; place++) {
    weights[place] = (weights[place] as number) + (weights[place - 1] as number);
  }
  const total = weights[weights.length - 1] as number;
  return () => first + searchFirstAbove(weights, random.next() * total);
}

/** The first place of an ascending table whose value is above a bound. */
function searchFirstAbove(table: Float64Array, bound: number): number {
  let low = 0;
  let high = table.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((table[middle] as number) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
