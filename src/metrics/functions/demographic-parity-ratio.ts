import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Demographic parity ratio: the smallest over the largest selection rate over groups,
 *
 *     DPR = min_g P(yPred = 1 | g) / max_g P(yPred = 1 | g), in [0, 1].
 *
 * 1 means that every group is selected equally often; the "four-fifths rule" asks
 * for at least 0.8. Undefined, with its reason, where no group is selected at all.
 *
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * groups left the value is NaN and `undefinedReason` says why.
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value cannot be used, or all rows lack a value
 * @see Uniform Guidelines on Employee Selection Procedures (1978), 29 CFR 1607.4 D
 * @example
 * ```ts
 * import { demographicParityRatio } from 'evenhand/metrics';
 *
 * const result = demographicParityRatio([1, 1, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value);
 * // 0.5
 * ```
 */
export function demographicParityRatio(
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('demographic_parity_ratio', { yPred, sensitive }, options);
}
