import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import {
  BENEFIT_ROW_OPTION_NAMES,
  type BenefitRowOptions,
  benefitMasses,
  BENEFITS,
  ENTROPY_OPTION_NAMES,
  type EntropyOptions,
  fillAlpha,
  generalizedEntropy,
  reduceColumns,
} from './entropy.ts';

/**
 * Computes the index from per-group statistics.
 * @throws {MetricComputationError} if the statistics contain no true labels
 * @throws {ValueError} if alpha is not a finite number
 */
export function betweenGroupGeneralizedEntropyIndexOf(
  stats: ClassificationStats,
  options: EntropyOptions = {},
): number {
  assertKnownOptions('betweenGroupGeneralizedEntropyIndexOf', options, ENTROPY_OPTION_NAMES);
  const alpha = fillAlpha(options);
  const masses = benefitMasses(stats, 'between_group_generalized_entropy_index');
  const means: number[] = [];
  const weights: number[] = [];
  for (let group = 0; group < stats.labels.length; group++) {
    const ofGroup = masses.map((mass) => mass[group] as number);
    const weight = ofGroup.reduce((sum, mass) => sum + mass, 0);
    if (weight === 0) continue;
    weights.push(weight);
    means.push(ofGroup.reduce((sum, mass, i) => sum + mass * (BENEFITS[i] as number), 0) / weight);
  }
  return means.length < 2 ? NaN : generalizedEntropy(means, weights, alpha);
}

const KNOWN_OPTIONS = { ...ENTROPY_OPTION_NAMES, ...BENEFIT_ROW_OPTION_NAMES };

/**
 * Computes the between-group generalized entropy index: the part of the `generalizedEntropyIndex` that is due to
 * differences between groups. To compute it, the benefit of each row is replaced by the mean benefit m_g of its group.
 * With n_g of n rows in a group and the overall mean m,
 *
 *     GEI_between(alpha) = sum_g n_g / n ( (m_g / m)^alpha - 1 ) / (alpha (alpha - 1)), 0 or more.
 *
 * 0 means that all groups have the same mean benefit. The rest of the index, sum_g n_g / n (m_g / m)^alpha GEI_g, is
 * due to differences within groups.
 *
 * All groups are included, regardless of their size. If there are several attributes, the groups are their
 * combinations, as in AIF360's "between all groups". To compare privileged and unprivileged rows as AIF360 does, use a
 * column with the values privileged and unprivileged. The index is NaN with fewer than two groups, or if all rows are
 * false negatives. The index is Infinity if alpha is 0 or less and a group has only false negatives. Rows without a
 * label, a decision, a group or a weight are excluded. Means are weighted by `sampleWeight`; AIF360 ignores weights in
 * its index.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 * @throws {ValueError} if alpha is not a finite number
 * @see Speicher et al. (2018), "A unified approach to quantifying algorithmic unfairness"
 * @example
 * ```ts
 * import { betweenGroupGeneralizedEntropyIndex } from 'evenhand/metrics';
 *
 * const groups = ['a', 'a', 'b', 'b'];
 * console.log(betweenGroupGeneralizedEntropyIndex([1, 1, 0, 0], [1, 0, 1, 0], groups));
 * // 0.125
 * ```
 */
export function betweenGroupGeneralizedEntropyIndex(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: EntropyOptions & BenefitRowOptions = {},
): number {
  assertKnownOptions('betweenGroupGeneralizedEntropyIndex', options, KNOWN_OPTIONS);
  const stats = reduceColumns({ yTrue, yPred, sensitive }, options);
  return betweenGroupGeneralizedEntropyIndexOf(stats, { alpha: options.alpha });
}

/**
 * Computes the coefficient from per-group statistics.
 * @throws {MetricComputationError} if the statistics contain no true labels
 */
export function betweenGroupCoefficientOfVariationOf(stats: ClassificationStats): number {
  return Math.sqrt(2 * betweenGroupGeneralizedEntropyIndexOf(stats, { alpha: 2 }));
}

/**
 * Computes the between-group coefficient of variation: the standard deviation of the groups' mean benefits, with each
 * group weighted by its number of rows, divided by the mean benefit. The coefficient follows from the
 * `betweenGroupGeneralizedEntropyIndex`,
 *
 *     CV_between = sqrt(2 GEI_between(2)), 0 or more.
 *
 * The coefficient is NaN with fewer than two groups, or if all rows are false negatives. As with
 * `coefficientOfVariation`, earlier releases of AIF360 returned a value that is larger by the factor sqrt(2).
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
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
  options: BenefitRowOptions = {},
): number {
  assertKnownOptions('betweenGroupCoefficientOfVariation', options, BENEFIT_ROW_OPTION_NAMES);
  return betweenGroupCoefficientOfVariationOf(reduceColumns({ yTrue, yPred, sensitive }, options));
}

/**
 * Computes the index from per-group statistics.
 * @throws {MetricComputationError} if the statistics contain no true labels
 */
export function betweenGroupTheilIndexOf(stats: ClassificationStats): number {
  return betweenGroupGeneralizedEntropyIndexOf(stats, { alpha: 1 });
}

/**
 * Computes the between-group Theil index: the `betweenGroupGeneralizedEntropyIndex` at alpha 1. With n_g of n rows in a
 * group, its mean benefit m_g and the overall mean m, where a benefit is 1 + yPred - yTrue,
 *
 *     T_between = sum_g n_g / n (m_g / m) ln(m_g / m), 0 or more.
 *
 * The index is NaN with fewer than two groups, or if all rows are false negatives.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
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
  options: BenefitRowOptions = {},
): number {
  assertKnownOptions('betweenGroupTheilIndex', options, BENEFIT_ROW_OPTION_NAMES);
  return betweenGroupTheilIndexOf(reduceColumns({ yTrue, yPred, sensitive }, options));
}
