import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Equalized odds difference: the larger of the gaps of true and of false
 * positive rates over groups (or their mean, with `agg: 'mean'`),
 *
 *     EOD = max_y ( max_g P(yPred = 1 | y, g) - min_g P(yPred = 1 | y, g) ), y in {0, 1}, in [0, 1].
 *
 * A group without positives has no true positive rate and one without negatives
 * no false positive rate; it is left out of that rate and listed. A rate with
 * fewer than two groups makes the metric NaN, with its reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning"
 * @example
 * ```ts
 * import { equalizedOddsDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(equalizedOddsDifference(yTrue, yPred, groups, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function equalizedOddsDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('equalized_odds_difference', { yTrue, yPred, sensitive }, options);
}
