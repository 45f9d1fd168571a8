import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { metricOfArguments } from '../compute-metric.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';

/**
 * Computes the demographic parity ratio: the smallest selection rate of a group divided by the largest,
 *
 *     DPR = min_g P(yPred = 1 | g) / max_g P(yPred = 1 | g), in [0, 1].
 *
 * 1 means that every group is selected equally often; the "four-fifths rule" requires at least 0.8. If no row has a
 * positive decision, the value is NaN and `undefinedReason` gives the reason.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the demographic parity difference: the largest minus the smallest selection rate over groups,
 *
 *     DPD = max_g P(yPred = 1 | g) - min_g P(yPred = 1 | g), in [0, 1].
 *
 * 0 means that every group is selected equally often, regardless of the true labels.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason. Rows without a decision or group are counted in `nDropped`.
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the equal opportunity difference: the largest minus the smallest true positive rate over groups,
 *
 *     max_g P(yPred = 1 | yTrue = 1, g) - min_g P(yPred = 1 | yTrue = 1, g), in [0, 1].
 *
 * Groups without positives, which have no true positive rate, and groups with fewer than `minGroupSize` rows are
 * excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives the
 * reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning"
 * @example
 * ```ts
 * import { equalOpportunityDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(equalOpportunityDifference(yTrue, yPred, groups, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function equalOpportunityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('equal_opportunity_difference', { yTrue, yPred, sensitive }, options);
}

/**
 * Computes the equalized odds difference: the larger of the gaps in true and false positive rates over groups (or their
 * mean, with `agg: 'mean'`),
 *
 *     EOD = max_y ( max_g P(yPred = 1 | y, g) - min_g P(yPred = 1 | y, g) ), y in {0, 1}, in [0, 1].
 *
 * A group without positives has no true positive rate, and a group without negatives has no false positive rate. Such a
 * group is excluded from that rate and listed in `excluded`. If a rate has fewer than two groups, the value is NaN and
 * `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the equalized odds ratio: the smaller of the ratios of true and false positive rates over groups (or their
 * mean, with `agg: 'mean'`),
 *
 *     EOR = min_y ( min_g P(yPred = 1 | y, g) / max_g P(yPred = 1 | y, g) ), y in {0, 1}, in [0, 1].
 *
 * A rate that is 0 in every group has no ratio and is excluded with a warning. If both rates are excluded, the metric
 * is undefined.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the false positive rate difference (predictive equality): the largest minus the smallest share of negatives
 * that get a positive decision,
 *
 *     max_g P(yPred = 1 | yTrue = 0, g) - min_g P(yPred = 1 | yTrue = 0, g), in [0, 1].
 *
 * Groups without negatives, which have no false positive rate, and groups with fewer than `minGroupSize` rows are
 * excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives the
 * reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
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

/**
 * Computes the predictive parity difference: the largest minus the smallest precision over groups,
 *
 *     max_g P(yTrue = 1 | yPred = 1, g) - min_g P(yTrue = 1 | yPred = 1, g), in [0, 1].
 *
 * Groups without a positive decision, which have no precision, and groups with fewer than `minGroupSize` rows are
 * excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives the
 * reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see Chouldechova (2017), "Fair prediction with disparate impact"
 * @example
 * ```ts
 * import { predictiveParityDifference } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
 * const yPred = [1, 1, 0, 0, 1, 0, 0, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * console.log(predictiveParityDifference(yTrue, yPred, groups, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function predictiveParityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  return metricOfArguments('predictive_parity_difference', { yTrue, yPred, sensitive }, options);
}

/**
 * Computes the accuracy parity difference: the largest minus the smallest share of correct decisions over groups,
 *
 *     max_g P(yPred = yTrue | g) - min_g P(yPred = yTrue | g), in [0, 1].
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} if lengths differ, a value is invalid, or no row can be used
 * @see Berk, Heidari, Jabbari, Kearns and Roth (2021), "Fairness in criminal justice risk assessments" (overall
 *   accuracy equality)
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
