import { assertKnownOptions } from '../../internal/known-options.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { reduceClassification } from '../reduce/reduce-classification.ts';
import { ROW_OPTION_NAMES, type RowOptions } from '../row-options.ts';
import { betweenGroupGeneralizedEntropyIndexOf } from './between-group-generalized-entropy-index.ts';

/**
 * The index as a function of per-group statistics.
 * @throws {MetricComputationError} where no true labels were counted
 */
export function betweenGroupTheilIndexOf(stats: ClassificationStats): number {
  return betweenGroupGeneralizedEntropyIndexOf(stats, { alpha: 1 });
}

/**
 * Between-group Theil index: the `betweenGroupGeneralizedEntropyIndex` at
 * alpha 1. With n_g rows of n in a group, its mean benefit m_g and the mean m
 * overall, where a benefit is 1 + yPred - yTrue,
 *
 *     T_between = sum_g n_g / n (m_g / m) ln(m_g / m), 0 or more.
 *
 * NaN with fewer than two groups, or where all rows are false negatives.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { betweenGroupTheilIndex } from 'evenhand/metrics';
 *
 * console.log(betweenGroupTheilIndex([1, 1, 0, 0], [1, 0, 1, 0], ['a', 'a', 'b', 'b']).toFixed(4));
 * // 0.1308
 * ```
 */
export function betweenGroupTheilIndex(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: RowOptions = {},
): number {
  assertKnownOptions('betweenGroupTheilIndex', options, ROW_OPTION_NAMES);
  const { sampleWeight, positiveLabel, nanPolicy } = options;
  return betweenGroupTheilIndexOf(
    reduceClassification({ yTrue, yPred, sensitive, sampleWeight, positiveLabel, nanPolicy }),
  );
}
