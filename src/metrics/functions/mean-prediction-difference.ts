import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Mean prediction difference, for regression: the largest minus the smallest mean
 * predicted value over groups,
 *
 *     max_g mean(yPred | g) - min_g mean(yPred | g), in [0, inf), in the target's units.
 *
 * The counterpart of demographic parity for numbers; true values are not needed.
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * groups left the value is NaN and `undefinedReason` says why.
 * @param yPred predicted values, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Agarwal, Dudik and Wu (2019), "Fair regression" (statistical parity)
 * @example
 * ```ts
 * import { meanPredictionDifference } from 'evenhand/metrics';
 *
 * const result = meanPredictionDifference([1, 2, 4, 6], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value);
 * // 3.5
 * ```
 */
export function meanPredictionDifference(
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('mean_prediction_difference', { yPred, sensitive }, options);
}
