import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Computes the calibration difference: the largest minus the smallest expected calibration error over groups, in [0,
 * 1], where
 *
 *     ECE_g = sum_b share_b |positive rate_b - mean score_b|
 *
 * over ten bins of equal weight of the group's scores (equal scores share a bin).
 *
 * Chance inflates the calibration error of small groups, so a small group appears less calibrated than a large group.
 * Compare groups of similar size, or increase `minGroupSize`. Groups with fewer than `minGroupSize` rows are excluded
 * and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yScore probabilities, [n], from 0 to 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a score is outside [0, 1], or no row can be used
 * @see Guo, Pleiss, Sun and Weinberger (2017), "On calibration of modern neural networks"
 * @example
 * ```ts
 * import { calibrationDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 0, 1, 0];
 * const yScore = [0.5, 0.5, 0.9, 0.9];
 * const result = calibrationDifference(yTrue, yScore, ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value.toFixed(3));
 * // 0.400
 * ```
 */
export function calibrationDifference(
  yTrue: ColumnSource,
  yScore: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('calibration_difference', { yTrue, yScore, sensitive }, options);
}

/**
 * Computes the ROC AUC difference: the largest minus the smallest area under the ROC curve over groups, in [0, 1],
 * where
 *
 *     AUC_g = P(score of a positive > score of a negative | g) + P(they tie | g) / 2.
 *
 * The value is exact for up to 65,536 distinct scores. With more, scores are rounded to a grid, and a warning gives a
 * bound on the effect. A group without positives or without negatives has no AUC. Such groups, and groups with fewer
 * than `minGroupSize` rows, are excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN
 * and `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yScore scores, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see DeLong, DeLong and Clarke-Pearson (1988) for the standard errors
 * @example
 * ```ts
 * import { rocAucDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 0, 1, 0];
 * const yScore = [0.9, 0.1, 0.4, 0.4];
 * console.log(rocAucDifference(yTrue, yScore, ['a', 'a', 'b', 'b'], { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function rocAucDifference(
  yTrue: ColumnSource,
  yScore: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('roc_auc_difference', { yTrue, yScore, sensitive }, options);
}
