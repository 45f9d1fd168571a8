import { assertKnownOptions } from '../../internal/known-options.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { generalizedEntropyIndexOf } from './generalized-entropy-index.ts';
import { reduceWithoutGroups, UNGROUPED_ROW_OPTION_NAMES, type UngroupedRowOptions } from './reduce-without-groups.ts';

/**
 * The index as a function of statistics, over the rows of all groups.
 * @throws {MetricComputationError} where no true labels were counted
 */
export function theilIndexOf(stats: ClassificationStats): number {
  return generalizedEntropyIndexOf(stats, { alpha: 1 });
}

/**
 * Theil index: the `generalizedEntropyIndex` at alpha 1,
 *
 *     T = mean( (b / m) ln(b / m) ), b = 1 + yPred - yTrue, m = mean(b), 0 or more,
 *
 * where a false negative, of benefit 0, adds 0. NaN where all rows are false
 * negatives, or none has both a label and a decision.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { theilIndex } from 'evenhand/metrics';
 *
 * console.log(theilIndex([1, 1, 0, 0], [1, 0, 1, 0]).toFixed(4));
 * // 0.3466
 * ```
 */
export function theilIndex(yTrue: ColumnSource, yPred: ColumnSource, options: UngroupedRowOptions = {}): number {
  assertKnownOptions('theilIndex', options, UNGROUPED_ROW_OPTION_NAMES);
  return theilIndexOf(reduceWithoutGroups(yTrue, yPred, options));
}
