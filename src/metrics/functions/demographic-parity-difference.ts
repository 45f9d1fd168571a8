import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Demographic parity difference: the largest minus the smallest selection rate
 * over groups,
 *
 *     DPD = max_g P(yPred = 1 | g) - min_g P(yPred = 1 | g), in [0, 1].
 *
 * 0 means that every group is selected equally often, whatever the true labels.
 *
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * groups left the value is NaN and `undefinedReason` says why. Rows without a
 * decision or group are counted in `nDropped`.
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Calders, Kamiran and Pechenizkiy (2009), "Building classifiers with independency constraints"
 * @example
 * ```ts
 * import { demographicParityDifference } from 'evenhand/metrics';
 *
 * const result = demographicParityDifference([1, 1, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value, result.perGroup['b']);
 * // 0.5 { selection_rate: 0.5 }
 * ```
 */
export function demographicParityDifference(
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('demographic_parity_difference', { yPred, sensitive }, options);
}
