import { assertKnownOptions } from '../../internal/known-options.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { reduceClassification } from '../reduce/reduce-classification.ts';
import { ROW_OPTION_NAMES, type RowOptions } from '../row-options.ts';
import { betweenGroupGeneralizedEntropyIndexOf } from './between-group-generalized-entropy-index.ts';

/**
 * The coefficient as a function of per-group statistics.
 * @throws {MetricComputationError} where no true labels were counted
 */
export function betweenGroupCoefficientOfVariationOf(stats: ClassificationStats): number {
  return Math.sqrt(2 * betweenGroupGeneralizedEntropyIndexOf(stats, { alpha: 2 }));
}

/**
 * Between-group coefficient of variation: the standard deviation of the groups'
 * mean benefits, each group weighted by its rows, over the mean benefit. It
 * follows from the `betweenGroupGeneralizedEntropyIndex`,
 *
 *     CV_between = sqrt(2 GEI_between(2)), 0 or more.
 *
 * NaN with fewer than two groups, or where all rows are false negatives. As for
 * the coefficient of single rows, earlier releases of AIF360 gave a number
 * larger by the factor sqrt(2).
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { betweenGroupCoefficientOfVariation } from 'evenhand/metrics';
 *
 * console.log(betweenGroupCoefficientOfVariation([1, 1, 0, 0], [1, 0, 1, 0], ['a', 'a', 'b', 'b']));
 * // 0.5
 * ```
 */
export function betweenGroupCoefficientOfVariation(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: RowOptions = {},
): number {
  assertKnownOptions('betweenGroupCoefficientOfVariation', options, ROW_OPTION_NAMES);
  const { sampleWeight, positiveLabel, nanPolicy } = options;
  return betweenGroupCoefficientOfVariationOf(
    reduceClassification({ yTrue, yPred, sensitive, sampleWeight, positiveLabel, nanPolicy }),
  );
}
