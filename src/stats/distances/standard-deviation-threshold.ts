import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireCount } from '../parameters.ts';
import { requireSample } from './require-sample.ts';

/** What a threshold by standard deviations may be told. */
export interface DeviationThresholdOptions {
  /**
   * How many standard deviations from the mean each limit lies, at least 0.
   * @defaultValue 3
   */
  readonly multiple?: number;
}

const DEVIATION_THRESHOLD_OPTION_NAMES: OptionNames<DeviationThresholdOptions> = { multiple: true };

/** Limits for later values, with what they were made from. */
export interface DeviationThreshold {
  readonly lower: number;
  readonly upper: number;
  readonly mean: number;
  /** Of the population: divided by n. */
  readonly standardDeviation: number;
  readonly multiple: number;
  readonly n: number;
}

/**
 * Limits about the mean of past values of a metric: mean -+ multiple times the
 * population standard deviation. One value, or equal values, give limits without width.
 *
 * It is a habit of monitoring, not a test: how often values of an unchanged
 * process fall outside depends on their law and on how often one looks.
 * @throws {DataValidationError} where there are no values, or one is not finite
 * @throws {ValueError} for a multiple below 0 or not finite
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
