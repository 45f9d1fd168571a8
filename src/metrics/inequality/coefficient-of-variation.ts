import { assertKnownOptions } from '../../internal/known-options.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { generalizedEntropyIndexOf } from './generalized-entropy-index.ts';
import { reduceWithoutGroups, UNGROUPED_ROW_OPTION_NAMES, type UngroupedRowOptions } from './reduce-without-groups.ts';

/**
 * The coefficient as a function of statistics, over the rows of all groups.
 * @throws {MetricComputationError} where no true labels were counted
 */
export function coefficientOfVariationOf(stats: ClassificationStats): number {
  return Math.sqrt(2 * generalizedEntropyIndexOf(stats, { alpha: 2 }));
}

/**
 * Coefficient of variation of benefits: their standard deviation (with divisor
 * n) over their mean, which follows from the `generalizedEntropyIndex`,
 *
 *     CV = sd(b) / mean(b) = sqrt(2 GEI(2)), b = 1 + yPred - yTrue, 0 or more.
 *
 * NaN where all rows are false negatives, or none has both a label and a
 * decision. Earlier releases of AIF360 gave 2 sqrt(GEI(2)), which is larger by
 * the factor sqrt(2).
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { coefficientOfVariation } from 'evenhand/metrics';
 *
 * console.log(coefficientOfVariation([1, 1, 0, 0], [1, 0, 1, 0]).toFixed(4));
 * // 0.7071
 * ```
 */
export function coefficientOfVariation(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  options: UngroupedRowOptions = {},
): number {
  assertKnownOptions('coefficientOfVariation', options, UNGROUPED_ROW_OPTION_NAMES);
  return coefficientOfVariationOf(reduceWithoutGroups(yTrue, yPred, options));
}
