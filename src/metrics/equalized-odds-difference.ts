import { MetricComputationError } from '../exceptions/index.ts';
import type { ColumnSource, SensitiveSource } from '../table/index.ts';
import type { ClassificationStats } from './group-stats.ts';
import type { MetricResult } from './metric-result.ts';
import { fillMetricOptions, type MetricOptions } from './options.ts';
import { rateGap } from './rate-gap.ts';
import { reduceClassification } from './reduce-rows.ts';
import type { RowOptions } from './row-options.ts';

/**
 * The metric as a function of per-group statistics.
 * @throws {MetricComputationError} where no true labels were counted
 */
export function equalizedOddsDifferenceOf(stats: ClassificationStats, options?: MetricOptions): MetricResult {
  if (!stats.hasTruth) {
    throw new MetricComputationError('equalized_odds_difference needs true labels, and none were given.', {
      context: { metric: 'equalized_odds_difference' },
      suggestion: 'Give the true labels too (yTrue, --y-true).',
    });
  }
  return rateGap(
    stats,
    {
      metric: 'equalized_odds_difference',
      rates: ['true_positive_rate', 'false_positive_rate'],
      needsTruth: true,
    },
    fillMetricOptions(options),
  );
}

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
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @see Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning"
 * @example
 * ```ts
 * import { equalizedOddsDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 0];
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
  const { sampleWeight, positiveLabel, nanPolicy } = options;
  return equalizedOddsDifferenceOf(
    reduceClassification({ yTrue, yPred, sensitive, sampleWeight, positiveLabel, nanPolicy }),
    options,
  );
}
