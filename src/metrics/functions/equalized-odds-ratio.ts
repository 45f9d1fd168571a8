import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Equalized odds ratio: the smaller of the ratios of true and of false positive
 * rates over groups (or their mean, with `agg: 'mean'`),
 *
 *     EOR = min_y ( min_g P(yPred = 1 | y, g) / max_g P(yPred = 1 | y, g) ), y in {0, 1}, in [0, 1].
 *
 * A rate that is 0 in every group has no ratio; it is left out with a warning,
 * and where both are, the metric is undefined.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning"
 * @example
 * ```ts
 * import { equalizedOddsRatio } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(equalizedOddsRatio(yTrue, yPred, groups, { minGroupSize: 2, agg: 'mean' }).value);
 * // 0.25
 * ```
 */
export function equalizedOddsRatio(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('equalized_odds_ratio', { yTrue, yPred, sensitive }, options);
}
