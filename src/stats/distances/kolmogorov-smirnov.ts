import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { kolmogorovTail } from './kolmogorov-tail.ts';
import { sortedSample } from './require-sample.ts';

/** The method that computes the p-value of a Kolmogorov-Smirnov test. */
export type KolmogorovSmirnovMethod = 'exact' | 'asymptotic';

/** The largest sample size for which `auto` computes the exact p-value, as in SciPy. */
const MAX_FOR_EXACT = 10_000;

const METHODS = ['auto', 'exact', 'asymptotic'] as const;

/** Options of {@link twoSampleKolmogorovSmirnov}. */
export interface KolmogorovSmirnovOptions {
  /**
   * `exact` counts orderings and takes O(n m) time for samples of n and m values. `asymptotic` uses the one-sample
   * distribution for n m / (n + m) values, rounded to an integer. `auto` uses `exact` for up to 10,000 values per
   * sample, and `asymptotic` otherwise.
   * @defaultValue 'auto'
   */
  readonly method?: KolmogorovSmirnovMethod | 'auto';
}

const KOLMOGOROV_SMIRNOV_OPTION_NAMES: OptionNames<KolmogorovSmirnovOptions> = { method: true };

/** The result of a two-sample Kolmogorov-Smirnov test. */
export interface KolmogorovSmirnovResult {
  /** The largest distance between the two empirical distribution functions, in [0, 1]. */
  readonly statistic: number;
  /** The two-sided p-value. */
  readonly pValue: number;
  /** The method that was used. */
  readonly method: KolmogorovSmirnovMethod;
  /** The sizes of the samples. */
  readonly sizes: readonly [reference: number, current: number];
}

/**
 * Performs the two-sample Kolmogorov-Smirnov test of the hypothesis that two samples come from the same distribution.
 * The statistic is max |F(x) - G(x)| over the empirical distribution functions.
 *
 * The exact p-value is the share of all orderings of n + m distinct values whose statistic is at least the observed
 * statistic. If there are ties, the p-value is conservative: it may be too large, but never too small (as in SciPy).
 * The order of the two samples does not matter.
 * @throws {DataValidationError} if a sample is empty or has a value that is not finite
 * @throws {ValueError} if the method is unknown
 * @see J. L. Hodges, The significance probability of the Smirnov two-sample test (1958)
 * @example
 * ```ts
 * import { twoSampleKolmogorovSmirnov } from 'evenhand/stats';
 *
 * const { statistic, pValue } = twoSampleKolmogorovSmirnov([1, 2, 3, 4], [3.5, 5, 6, 7]);
 * console.log(statistic, pValue.toFixed(4));
 * // 0.75 0.2286
 * ```
 */
export function twoSampleKolmogorovSmirnov(
  reference: ArrayLike<number>,
  current: ArrayLike<number>,
  options: KolmogorovSmirnovOptions = {},
): KolmogorovSmirnovResult {
  assertKnownOptions('twoSampleKolmogorovSmirnov', options, KOLMOGOROV_SMIRNOV_OPTION_NAMES);
  const { method = 'auto' } = options;
  const asked = oneOf('method', method, METHODS);
  const first = sortedSample('reference', reference);
  const second = sortedSample('current', current);
  const [n, m] = [first.length, second.length];
  const used = asked === 'auto' ? (Math.max(n, m) <= MAX_FOR_EXACT ? 'exact' : 'asymptotic') : asked;
  const distance = largestDistance(first, second);
  const statistic = distance / (n * m);
  const pValue =
    used === 'exact' ? exactTail(n, m, distance) : kolmogorovTail(Math.round((n * m) / (n + m)), statistic);
  return Object.freeze({ statistic, pValue, method: used, sizes: Object.freeze([n, m] as const) });
}

/** Returns max |F - G| in units of 1 / (n m). The result is an integer, so it has no rounding error. */
function largestDistance(first: Float64Array, second: Float64Array): number {
  const [n, m] = [first.length, second.length];
  let [i, j, largest] = [0, 0, 0];
  while (i < n && j < m) {
    // Values that are equal in both samples form one step of both functions.
    const value = Math.min(first[i] as number, second[j] as number);
    while (i < n && first[i] === value) i++;
    while (j < m && second[j] === value) j++;
    largest = Math.max(largest, Math.abs(i * m - j * n));
  }
  return largest;
}

/**
 * Returns the probability that a random path from (0, 0) to (n, m) passes through a point (i, j) with |i m - j n| >=
 * distance. Each path corresponds to an ordering of the pooled values. The last step to (i, j) comes from (i - 1, j)
 * with probability i / (i + j). All terms are positive, so small p-values keep their precision.
 */
function exactTail(n: number, m: number, distance: number): number {
  if (distance === 0) return 1;
  // Outside the band around the diagonal, the probability stays 1.
  const reached = new Float64Array(m + 1).fill(1);
  for (let i = 0; i <= n; i++) {
    const low = Math.max(0, Math.floor((i * m - distance) / n) + 1);
    const high = Math.min(m, Math.ceil((i * m + distance) / n) - 1);
    if (low > 0) reached[low - 1] = 1;
    let left = low > 0 ? 1 : 0;
    for (let j = low; j <= high; j++) {
      left = i + j === 0 ? 0 : (i * (reached[j] as number) + j * left) / (i + j);
      reached[j] = left;
    }
  }
  return reached[m] as number;
}
