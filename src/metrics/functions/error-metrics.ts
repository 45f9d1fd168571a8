import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Computes the mean prediction difference, for regression: the largest minus the smallest mean predicted value over
 * groups,
 *
 *     max_g mean(yPred | g) - min_g mean(yPred | g), in [0, inf), in the target's units.
 *
 * It is the counterpart of demographic parity for numbers and does not need true values. Groups with fewer than
 * `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and
 * `undefinedReason` gives the reason.
 * @param yPred predicted values, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the MAE parity difference, for regression: the largest minus the smallest mean absolute error over groups,
 *
 *     max_g mean(|yPred - yTrue| | g) - min_g mean(|yPred - yTrue| | g), in [0, inf), in the target's units.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true values, [n], finite
 * @param yPred predicted values, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see Agarwal, Dudik and Wu (2019), "Fair regression" (bounded group loss)
 * @example
 * ```ts
 * import { maeParityDifference } from 'evenhand/metrics';
 *
 * const result = maeParityDifference([1, 2, 3, 4], [1, 2, 4, 6], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value);
 * // 1.5
 * ```
 */
export function maeParityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('mae_parity_difference', { yTrue, yPred, sensitive }, options);
}

/**
 * Computes the RMSE parity difference, for regression: the largest minus the smallest root mean squared error over
 * groups,
 *
 *     max_g sqrt(mean((yPred - yTrue)^2 | g)) - min_g sqrt(mean((yPred - yTrue)^2 | g)), in [0, inf), in the target's units.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true values, [n], finite
 * @param yPred predicted values, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see Agarwal, Dudik and Wu (2019), "Fair regression" (bounded group loss)
 * @example
 * ```ts
 * import { rmseParityDifference } from 'evenhand/metrics';
 *
 * const result = rmseParityDifference([1, 2, 3, 4], [1, 2, 4, 5], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value);
 * // 1
 * ```
 */
export function rmseParityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('rmse_parity_difference', { yTrue, yPred, sensitive }, options);
}
