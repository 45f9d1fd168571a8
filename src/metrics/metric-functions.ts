import type { ColumnSource, SensitiveSource } from '../table/index.ts';
import { metricOfArguments } from './compute-metric.ts';
import type { MetricResult } from './metric-result.ts';
import type { MetricOptions } from './options.ts';
import type { RowOptions } from './row-options.ts';

/** Returns the function for a metric that does not need true labels. */
function predictionMetric(metric: string) {
  return (yPred: ColumnSource, sensitive: SensitiveSource, options: MetricOptions & RowOptions = {}): MetricResult =>
    metricOfArguments(metric, { yPred, sensitive }, options);
}

/** Returns the function for a metric that compares predictions with true labels or true values. */
function outcomeMetric(metric: string) {
  return (
    yTrue: ColumnSource,
    yPred: ColumnSource,
    sensitive: SensitiveSource,
    options: MetricOptions & RowOptions = {},
  ): MetricResult => metricOfArguments(metric, { yTrue, yPred, sensitive }, options);
}

/** Returns the function for a metric that compares scores with true labels. */
function scoreMetric(metric: string) {
  return (
    yTrue: ColumnSource,
    yScore: ColumnSource,
    sensitive: SensitiveSource,
    options: MetricOptions & RowOptions = {},
  ): MetricResult => metricOfArguments(metric, { yTrue, yScore, sensitive }, options);
}

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
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const demographicParityRatio = predictionMetric('demographic_parity_ratio');

/**
 * Computes the demographic parity difference: the largest minus the smallest selection rate over groups,
 *
 *     DPD = max_g P(yPred = 1 | g) - min_g P(yPred = 1 | g), in [0, 1].
 *
 * 0 means that every group is selected equally often, regardless of the true labels.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason. `nDropped` is the number of rows without a decision or
 * group.
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const demographicParityDifference = predictionMetric('demographic_parity_difference');

/**
 * Computes the equal opportunity difference: the largest minus the smallest true positive rate over groups,
 *
 *     max_g P(yPred = 1 | yTrue = 1, g) - min_g P(yPred = 1 | yTrue = 1, g), in [0, 1].
 *
 * A group without positives has no true positive rate. Such groups, and groups with fewer than `minGroupSize` rows, are
 * excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives the
 * reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const equalOpportunityDifference = outcomeMetric('equal_opportunity_difference');

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
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const equalizedOddsDifference = outcomeMetric('equalized_odds_difference');

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
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const equalizedOddsRatio = outcomeMetric('equalized_odds_ratio');

/**
 * Computes the false positive rate difference (predictive equality): the largest minus the smallest share of negatives
 * that get a positive decision,
 *
 *     max_g P(yPred = 1 | yTrue = 0, g) - min_g P(yPred = 1 | yTrue = 0, g), in [0, 1].
 *
 * A group without negatives has no false positive rate. Such groups, and groups with fewer than `minGroupSize` rows,
 * are excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives
 * the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const falsePositiveRateDifference = outcomeMetric('false_positive_rate_difference');

/**
 * Computes the predictive parity difference: the largest minus the smallest precision over groups,
 *
 *     max_g P(yTrue = 1 | yPred = 1, g) - min_g P(yTrue = 1 | yPred = 1, g), in [0, 1].
 *
 * A group without a positive decision has no precision. Such groups, and groups with fewer than `minGroupSize` rows,
 * are excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and `undefinedReason` gives
 * the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const predictiveParityDifference = outcomeMetric('predictive_parity_difference');

/**
 * Computes the accuracy parity difference: the largest minus the smallest share of correct decisions over groups,
 *
 *     max_g P(yPred = yTrue | g) - min_g P(yPred = yTrue | g), in [0, 1].
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const accuracyParityDifference = outcomeMetric('accuracy_parity_difference');

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
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const calibrationDifference = scoreMetric('calibration_difference');

/**
 * Computes the ROC AUC difference: the largest minus the smallest area under the ROC curve over groups, in [0, 1],
 * where
 *
 *     AUC_g = P(score of a positive > score of a negative | g) + P(they tie | g) / 2.
 *
 * The value is exact for up to 65,536 distinct scores. If there are more, scores are rounded to a grid, and a warning
 * gives a bound on the effect of the rounding. A group without positives or without negatives has no AUC. Such groups,
 * and groups with fewer than `minGroupSize` rows, are excluded and listed in `excluded`. If fewer than two groups
 * remain, the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true labels, [n], 0 or 1
 * @param yScore scores, [n], finite
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const rocAucDifference = scoreMetric('roc_auc_difference');

/**
 * Computes the mean prediction difference, for regression: the largest minus the smallest mean predicted value over
 * groups,
 *
 *     max_g mean(yPred | g) - min_g mean(yPred | g), in [0, inf), in the target's units.
 *
 * This metric is the counterpart of demographic parity for numbers and does not need true values. Groups with fewer
 * than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain, the value is NaN and
 * `undefinedReason` gives the reason.
 * @param yPred predicted values, [n], finite
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const meanPredictionDifference = predictionMetric('mean_prediction_difference');

/**
 * Computes the MAE parity difference, for regression: the largest minus the smallest mean absolute error over groups,
 *
 *     max_g mean(|yPred - yTrue| | g) - min_g mean(|yPred - yTrue| | g), in [0, inf), in the target's units.
 *
 * Groups with fewer than `minGroupSize` rows are excluded and listed in `excluded`. If fewer than two groups remain,
 * the value is NaN and `undefinedReason` gives the reason.
 * @param yTrue true values, [n], finite
 * @param yPred predicted values, [n], finite
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const maeParityDifference = outcomeMetric('mae_parity_difference');

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
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
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
export const rmseParityDifference = outcomeMetric('rmse_parity_difference');
