import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { cellsWith, type ClassificationStats } from '../statistics/group-stats.ts';
import {
  DIFFERENTIAL_FAIRNESS_OPTION_NAMES,
  type DifferentialFairnessOptions,
  fillConcentration,
  largestLogRatio,
} from './differential-fairness.ts';
import { assertTruth, BENEFIT_ROW_OPTION_NAMES, type BenefitRowOptions, reduceColumns } from './entropy.ts';

/** The cells of rows that have a label, grouped by decision (`BY_DECISION`) and by label (`BY_LABEL`). */
const BY_DECISION = { positive: cellsWith([0, 1], [1]), negative: cellsWith([0, 1], [0]) };
const BY_LABEL = { positive: cellsWith([1]), negative: cellsWith([0]) };

/**
 * Computes the metric from per-group statistics.
 * @throws {MetricComputationError} if the statistics contain no true labels
 * @throws {ValueError} if the concentration is below 0 or not finite
 */
export function differentialFairnessBiasAmplificationOf(
  stats: ClassificationStats,
  options: DifferentialFairnessOptions = {},
): number {
  assertKnownOptions('differentialFairnessBiasAmplificationOf', options, DIFFERENTIAL_FAIRNESS_OPTION_NAMES);
  const concentration = fillConcentration('differentialFairnessBiasAmplification', options);
  assertTruth(stats, 'differential_fairness_bias_amplification');
  return largestLogRatio(stats, BY_DECISION, concentration) - largestLogRatio(stats, BY_LABEL, concentration);
}

const KNOWN_OPTIONS = { ...DIFFERENTIAL_FAIRNESS_OPTION_NAMES, ...BENEFIT_ROW_OPTION_NAMES };

/**
 * Computes the differential fairness bias amplification: the empirical differential fairness (EDF) of the decisions
 * minus the EDF of the labels,
 *
 *     EDF(yPred) - EDF(yTrue),
 *
 * where `empiricalDifferentialFairness` computes each EDF from the rows that have both a decision and a label. The
 * amplification is positive if groups differ more in decisions than in labels, and negative if groups differ less in
 * decisions. A model that reproduces biased labels scores 0.
 *
 * The result is NaN with fewer than two groups. Without smoothing, it is also NaN if both terms are infinite. Rows
 * without a label, a decision, a group or a weight are excluded.
 * @param yTrue true labels, [n], 0 or 1
 * @param yPred decisions, [n], 0 or 1
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 * @throws {ValueError} if the concentration is below 0 or not finite
 * @see Foulds, Islam, Keya and Pan (2020), "An intersectional definition of fairness"
 * @example
 * ```ts
 * import { differentialFairnessBiasAmplification } from 'evenhand/metrics';
 *
 * const groups = ['a', 'a', 'a', 'b', 'b', 'b'];
 * console.log(differentialFairnessBiasAmplification([1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1], groups).toFixed(4));
 * // 1.0986
 * ```
 */
export function differentialFairnessBiasAmplification(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: DifferentialFairnessOptions & BenefitRowOptions = {},
): number {
  assertKnownOptions('differentialFairnessBiasAmplification', options, KNOWN_OPTIONS);
  const stats = reduceColumns({ yTrue, yPred, sensitive }, options);
  return differentialFairnessBiasAmplificationOf(stats, { concentration: options.concentration });
}
