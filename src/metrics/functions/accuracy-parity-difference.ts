import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Accuracy parity difference: the largest minus the smallest share of right
 * decisions over groups,
 *
 *     max_g P(yPred = yTrue | g) - min_g P(yPred = yTrue | g), in [0, 1].
 *
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * groups left the value is NaN and `undefinedReason` says why.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Berk, Heidari, Jabbari, Kearns and Roth (2021), "Fairness in criminal justice risk assessments" (overall accuracy equality)
 * @example
 * ```ts
 * import { accuracyParityDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(accuracyParityDifference(yTrue, yPred, groups, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function accuracyParityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('accuracy_parity_difference', { yTrue, yPred, sensitive }, options);
}
