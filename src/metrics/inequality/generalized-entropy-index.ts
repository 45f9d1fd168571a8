import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { columnLength, type ColumnSource, unwrap } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import {
  benefitMasses,
  type BenefitRowOptions,
  BENEFITS,
  ENTROPY_OPTION_NAMES,
  type EntropyOptions,
  fillAlpha,
  generalizedEntropy,
  reduceColumns,
} from './entropy.ts';

/** Options for rows that are not divided into groups. */
export type UngroupedRowOptions = Omit<BenefitRowOptions, 'nanPolicy'>;

/** Lists the options of {@link UngroupedRowOptions}. */
const UNGROUPED_ROW_OPTION_NAMES: OptionNames<UngroupedRowOptions> = {
  sampleWeight: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  naValues: true,
};

/**
 * Computes the statistics of labels and decisions, with all rows in a single group.
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 */
function reduceWithoutGroups(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  options: UngroupedRowOptions,
): ClassificationStats {
  const decisions = unwrap(yPred, 'yPred');
  const codes = new Int32Array('kind' in decisions ? columnLength(decisions) : decisions.length);
  const sensitive = { kind: 'categorical', codes, labels: ['all'] } as const;
  return reduceColumns({ yTrue, yPred: decisions, sensitive }, options);
}

/**
 * Computes the index from statistics, over the rows of all groups.
 * @throws {MetricComputationError} if the statistics contain no true labels
 * @throws {ValueError} if alpha is not a finite number
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
 * Computes the generalized entropy index: how unequally decisions benefit individual rows, regardless of their groups.
 * The benefits are b = 1 + yPred - yTrue: 0 for a false negative, 1 for a correct decision and 2 for a false positive.
 * With their mean m,
 *
 *     GEI(alpha) = mean( (b / m)^alpha - 1 ) / (alpha (alpha - 1)),
 *     GEI(1) = mean( (b / m) ln(b / m) ),   GEI(0) = -mean( ln(b / m) ), 0 or more.
 *
 * 0 means that every row has the same benefit. All benefits are equal if all decisions are correct, and also if all
 * decisions are false positives. For the part of the index that is due to differences between groups, use
 * `betweenGroupGeneralizedEntropyIndex`.
 *
 * With an alpha of 0 or less, a single false negative makes the index Infinity. The index is NaN if all rows are false
 * negatives, or if no row has both a label and a decision. Rows without a label, a decision or a weight are excluded.
 * Means are weighted by `sampleWeight`. AIF360 ignores weights in this index. At alpha 0, AIF360 also divides by m one
 * additional time.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 * @throws {ValueError} if alpha is not a finite number
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

/**
 * Computes the coefficient from statistics, over the rows of all groups.
 * @throws {MetricComputationError} if the statistics contain no true labels
 */
export function coefficientOfVariationOf(stats: ClassificationStats): number {
  return Math.sqrt(2 * generalizedEntropyIndexOf(stats, { alpha: 2 }));
}

/**
 * Computes the coefficient of variation of benefits: their standard deviation (with divisor n) divided by their mean.
 * The coefficient follows from the `generalizedEntropyIndex`,
 *
 *     CV = sd(b) / mean(b) = sqrt(2 GEI(2)), b = 1 + yPred - yTrue, 0 or more.
 *
 * The coefficient is NaN if all rows are false negatives, or if no row has both a label and a decision. Earlier
 * releases of AIF360 returned 2 sqrt(GEI(2)), a value that is larger by the factor sqrt(2).
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
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

/**
 * Computes the index from statistics, over the rows of all groups.
 * @throws {MetricComputationError} if the statistics contain no true labels
 */
export function theilIndexOf(stats: ClassificationStats): number {
  return generalizedEntropyIndexOf(stats, { alpha: 1 });
}

/**
 * Computes the Theil index: the `generalizedEntropyIndex` at alpha 1,
 *
 *     T = mean( (b / m) ln(b / m) ), b = 1 + yPred - yTrue, m = mean(b), 0 or more,
 *
 * where a false negative, with benefit 0, adds 0. The index is NaN if all rows are false negatives, or if no row has
 * both a label and a decision.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
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
