import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * False positive rate difference (predictive equality): the largest minus the
 * smallest share of negatives that get a positive decision,
 *
 *     max_g P(yPred = 1 | yTrue = 0, g) - min_g P(yPred = 1 | yTrue = 0, g), in [0, 1].
 *
 * A group without negatives has no false positive rate; it is left out and listed.
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * groups left the value is NaN and `undefinedReason` says why.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Chouldechova (2017), "Fair prediction with disparate impact"
 * @example
 * ```ts
 * import { falsePositiveRateDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(falsePositiveRateDifference(yTrue, yPred, groups, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function falsePositiveRateDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('false_positive_rate_difference', { yTrue, yPred, sensitive }, options);
}
