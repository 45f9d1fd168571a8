import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireCount } from '../parameters.ts';
import { requireSample } from './require-sample.ts';

/** Options of {@link standardDeviationThreshold}. */
export interface DeviationThresholdOptions {
  /**
   * The distance of each limit from the mean in standard deviations, at least 0.
   * @defaultValue 3
   */
  readonly multiple?: number;
}

const DEVIATION_THRESHOLD_OPTION_NAMES: OptionNames<DeviationThresholdOptions> = { multiple: true };

/** Limits for future values, with the statistics used to compute the limits. */
export interface DeviationThreshold {
  readonly lower: number;
  readonly upper: number;
  readonly mean: number;
  /** The population standard deviation (divided by n). */
  readonly standardDeviation: number;
  readonly multiple: number;
  readonly n: number;
}

/**
 * Computes limits for future values of a metric from its past values: mean ± multiple times the population standard
 * deviation. If there is one value, or all values are equal, both limits equal the mean.
 *
 * These limits are a monitoring heuristic, not a test: the rate of false alarms depends on the distribution of the
 * values and on the number of checks.
 * @throws {DataValidationError} if there are no values, or if a value is not finite
 * @throws {ValueError} if the multiple is below 0 or not finite
 * @example
 * ```ts
 * import { standardDeviationThreshold } from 'evenhand/stats';
 *
 * const { lower, upper } = standardDeviationThreshold([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
 * console.log(lower.toFixed(4), upper.toFixed(4));
 * // -4.1168 13.1168
 * ```
 */
export function standardDeviationThreshold(
  values: ArrayLike<number>,
  options: DeviationThresholdOptions = {},
): DeviationThreshold {
  assertKnownOptions('standardDeviationThreshold', options, DEVIATION_THRESHOLD_OPTION_NAMES);
  const { multiple = 3 } = options;
  requireCount('multiple', multiple);
  const sample = requireSample('values', values);
  const n = sample.length;
  const mean = sample.reduce((sum, value) => sum + value, 0) / n;
  const standardDeviation = Math.sqrt(sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n);
  const half = multiple * standardDeviation;
  return Object.freeze({ lower: mean - half, upper: mean + half, mean, standardDeviation, multiple, n });
}
