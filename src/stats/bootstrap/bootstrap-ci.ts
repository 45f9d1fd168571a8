import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import { normalCdf, normalQuantile } from '../normal.ts';
import { requireLevel, requireInteger } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';
import { quantileSorted } from '../quantile.ts';

const METHODS = ['percentile', 'bca'] as const;

/**
 * The method that computes the ends of the interval from the replicates. `percentile` uses plain quantiles, and `bca`
 * uses bias-corrected and accelerated quantiles.
 */
export type BootstrapMethod = (typeof METHODS)[number];

/** Options of {@link bootstrapCi}. */
export interface BootstrapOptions {
  /**
   * The number of replicates, 1 or more.
   * @defaultValue 2000
   */
  readonly samples?: number;
  /**
   * Confidence level in (0, 1).
   * @defaultValue 0.95
   */
  readonly level?: number;
  /** @defaultValue `'percentile'` */
  readonly method?: BootstrapMethod;
  /**
   * The random seed, an integer; the same seed gives the same interval.
   * @defaultValue 42
   */
  readonly seed?: number;
}

const BOOTSTRAP_OPTION_NAMES: OptionNames<BootstrapOptions> = { samples: true, level: true, method: true, seed: true };

/**
 * Computes a bootstrap confidence interval for a statistic of one sample.
 *
 * Each replicate draws a sample of the same size with replacement and evaluates the statistic. `percentile` takes the
 * (1 - level)/2 and (1 + level)/2 quantiles (type 7) of the replicates. `bca` (Efron 1987) shifts both probabilities by
 * the median bias z0 and the acceleration a, which the jackknife estimates: Phi(z0 + (z0 + z) / (1 - a (z0 + z))).
 * `bca` is second-order accurate for smooth statistics. The method requires one additional evaluation of the statistic
 * for each distinct value of the sample.
 *
 * Degenerate cases. An empty sample gives [NaN, NaN]. The result is also [NaN, NaN] if the statistic is NaN for the
 * sample or any replicate, because excluding replicates would silently shift the interval. If all replicates lie on one
 * side of the estimate, half a replicate is counted on the other side, so that z0 is finite. If the jackknife values
 * are all equal or undefined (for example, if the sample has one value), a is 0. If all replicates are equal, both ends
 * of the interval equal this value. An end may be infinite.
 *
 * Neither `percentile` nor `bca` is valid for statistics for which the bootstrap fails, such as a maximum or a gap of
 * group rates near 0. Use `gapIntervals` for such gaps.
 * @param sample independent values, in any order
 * @param statistic a function of the values that does not depend on their order. The array is reused for the next
 *   replicate: the function may sort it in place but must not keep it
 * @throws {ValueError} if an option is out of range
 * @see B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14
 * @example
 * ```ts
 * import { bootstrapCi } from 'evenhand/stats/bootstrap';
 *
 * const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
 * const sample = Array.from({ length: 100 }, (_, index) => index);
 * const [low, high] = bootstrapCi(sample, mean, { method: 'bca' });
 * console.log(low.toFixed(1), high.toFixed(1));
 * // 44.0 55.1
 * ```
 */
export function bootstrapCi(
  sample: ArrayLike<number>,
  statistic: BootstrapStatistic,
  options: BootstrapOptions = {},
): Interval {
  assertKnownOptions('bootstrapCi', options, BOOTSTRAP_OPTION_NAMES);
  const { samples = 2000, level = 0.95, method = 'percentile', seed = 42 } = options;
  requireInteger('samples', samples, 1);
  requireLevel('level', level);
  requireInteger('seed', seed, Number.MIN_SAFE_INTEGER);
  if (!METHODS.includes(method)) throw invalidParameter('method', `be one of ${METHODS.join(', ')}`, `'${method}'`);
  if (sample.length === 0) return Object.freeze<Interval>([NaN, NaN]);
  const values = Float64Array.from(sample);
  const replicates = drawReplicates(values, statistic, samples, createRandom(seed)).sort();
  const estimate = statistic(values.slice());
  // Sorting puts NaN last.
  if (Number.isNaN(estimate) || Number.isNaN(replicates[samples - 1])) return Object.freeze<Interval>([NaN, NaN]);
  const tail = (1 - level) / 2;
  const [low, high] =
    method === 'bca'
      ? biasCorrectedProbabilities([tail, 1 - tail], { values, statistic, estimate, replicates })
      : [tail, 1 - tail];
  return Object.freeze<Interval>([quantile(replicates, low), quantile(replicates, high)]);
}

/** Evaluates the statistic on samples drawn with replacement. */
function drawReplicates(
  values: Float64Array,
  statistic: BootstrapStatistic,
  samples: number,
  random: Random,
): Float64Array {
  const drawn = new Float64Array(values.length);
  const replicates = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    for (let i = 0; i < drawn.length; i++) drawn[i] = values[random.integer(values.length)] as number;
    replicates[sample] = statistic(drawn);
  }
  return replicates;
}

/**
 * Returns a quantile of sorted replicates. Interpolation between a finite and an infinite replicate is undefined. In
 * that case, the lower replicate is returned.
 */
function quantile(sorted: Float64Array, probability: number): number {
  const value = quantileSorted(sorted, probability);
  return Number.isNaN(value) ? (sorted[Math.floor((sorted.length - 1) * probability)] as number) : value;
}

/** The inputs and results of a bootstrap run. */
interface Bootstrapped {
  readonly values: Float64Array;
  readonly statistic: BootstrapStatistic;
  /** The statistic of the sample itself. */
  readonly estimate: number;
  /** The statistic of the replicates, in ascending order. */
  readonly replicates: Float64Array;
}

/** Returns the bias-corrected and accelerated probabilities that replace the given probabilities (Efron 1987). */
function biasCorrectedProbabilities(
  probabilities: readonly [low: number, high: number],
  bootstrapped: Bootstrapped,
): [low: number, high: number] {
  const bias = medianBias(bootstrapped);
  const acceleration = jackknifeAcceleration(bootstrapped);
  const [low, high] = probabilities;
  return [correct(low, bias, acceleration), correct(high, bias, acceleration)];
}

/**
 * Returns Phi(z0 + (z0 + z) / (1 - a (z0 + z))). Beyond the pole, the correction is undefined. In that case, the
 * outermost replicate is selected.
 */
function correct(probability: number, bias: number, acceleration: number): number {
  const shifted = bias + normalQuantile(probability);
  const scale = 1 - acceleration * shifted;
  if (scale <= 0) return shifted > 0 ? 1 : 0;
  return normalCdf(bias + shifted / scale);
}

/**
 * Computes z0: the normal quantile of the share of replicates below the estimate, where replicates equal to the
 * estimate count half.
 */
function medianBias({ replicates, estimate }: Bootstrapped): number {
  let below = 0;
  for (const replicate of replicates) below += replicate < estimate ? 1 : replicate === estimate ? 0.5 : 0;
  const count = replicates.length;
  return normalQuantile(Math.min(count - 0.5, Math.max(0.5, below)) / count);
}

/**
 * Computes a = sum u^3 / (6 (sum u^2)^1.5), where each u is the mean of the leave-one-out statistics minus one
 * leave-one-out statistic. Returns 0 if a is undefined.
 */
function jackknifeAcceleration({ values, statistic }: Bootstrapped): number {
  const leftOut = leaveOneOut(values, statistic);
  const mean = leftOut.reduce((sum, value) => sum + value, 0) / leftOut.length;
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    const influence = mean - value;
    squares += influence ** 2;
    cubes += influence ** 3;
  }
  const acceleration = cubes / (6 * squares ** 1.5);
  return Number.isFinite(acceleration) ? acceleration : 0;
}

/**
 * Computes the leave-one-out statistics. Removing either of two equal values gives the same sample, so the statistic is
 * evaluated once per distinct value.
 */
function leaveOneOut(values: Float64Array, statistic: BootstrapStatistic): Float64Array {
  const known = new Map<number, number>();
  const rest = new Float64Array(values.length - 1);
  return values.map((value, index) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    rest.set(values.subarray(0, index));
    rest.set(values.subarray(index + 1), index);
    const without = statistic(rest);
    known.set(value, without);
    return without;
  });
}

/** A function that computes a number from a sample and does not depend on the order of the values. */
export type BootstrapStatistic = (values: Float64Array) => number;
