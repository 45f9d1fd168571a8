import { assertKnownOptions } from '../../internal/known-options.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { benefitMasses, BENEFITS } from './benefits.ts';
import { ENTROPY_OPTION_NAMES, type EntropyOptions, fillAlpha, generalizedEntropy } from './entropy.ts';
import { reduceWithoutGroups, UNGROUPED_ROW_OPTION_NAMES, type UngroupedRowOptions } from './reduce-without-groups.ts';

/**
 * The index as a function of statistics, over the rows of all groups.
 * @throws {MetricComputationError} where no true labels were counted
 * @throws {ValueError} for an alpha that is not a finite number
 */
export function generalizedEntropyIndexOf(stats: ClassificationStats, options: EntropyOptions = {}): number {
  assertKnownOptions('generalizedEntropyIndexOf', options, ENTROPY_OPTION_NAMES);
  const alpha = fillAlpha(options);
  const masses = benefitMasses(stats, 'generalized_entropy_index').map((ofGroups) =>
    ofGroups.reduce((sum, mass) => sum + mass, 0),
  );
  return generalizedEntropy(BENEFITS, masses, alpha);
}

const KNOWN_OPTIONS = { ...ENTROPY_OPTION_NAMES, ...UNGROUPED_ROW_OPTION_NAMES };

/**
 * Generalized entropy index: how unequally decisions benefit single rows,
 * whatever their groups. With benefits b = 1 + yPred - yTrue, which are 0 for a
 * false negative, 1 for a right decision and 2 for a false positive, and their
 * mean m,
 *
 *     GEI(alpha) = mean( (b / m)^alpha - 1 ) / (alpha (alpha - 1)),
 *     GEI(1) = mean( (b / m) ln(b / m) ),   GEI(0) = -mean( ln(b / m) ), 0 or more.
 *
 * 0 means that every row has the same benefit. So it has where all decisions
 * are right, and also where all are false positives. What part of the index
 * lies between groups, `betweenGroupGeneralizedEntropyIndex` tells.
 *
 * With an alpha of 0 or less, a single false negative makes it Infinity. NaN
 * where all rows are false negatives, or none has both a label and a decision;
 * rows that lack one, or a weight, are left out. Means are weighted by
 * `sampleWeight`; AIF360 leaves weights out of its index, and at alpha 0
 * divides by m once more.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or all rows lack a value
 * @throws {ValueError} for an alpha that is not a finite number
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { generalizedEntropyIndex } from 'evenhand/metrics';
 *
 * const yTrue = [1, 1, 0, 0];
 * const yPred = [1, 0, 1, 0];
 * console.log(generalizedEntropyIndex(yTrue, yPred), generalizedEntropyIndex(yTrue, yTrue));
 * // 0.25 0
 * ```
 */
export function generalizedEntropyIndex(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  options: EntropyOptions & UngroupedRowOptions = {},
): number {
  assertKnownOptions('generalizedEntropyIndex', options, KNOWN_OPTIONS);
  return generalizedEntropyIndexOf(reduceWithoutGroups(yTrue, yPred, options), { alpha: options.alpha });
}
