import { sumOf } from '../../internal/values.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { CELLS_BY_DECISION, type ClassificationStats, sumCells } from '../statistics/group-stats.ts';
import { DECISION_ROW_OPTION_NAMES, type DecisionRowOptions, reduceColumns } from './entropy.ts';

/** Computes the metric from per-group statistics. */
export function conditionalDemographicDisparityOf(stats: ClassificationStats): number {
  const positive = sumCells(stats.weights, CELLS_BY_DECISION.positive);
  const negative = sumCells(stats.weights, CELLS_BY_DECISION.negative);
  const sizes = positive.map((weight, group) => weight + (negative[group] as number));
  const [allPositive, allNegative, all] = [sumOf(positive), sumOf(negative), sumOf(sizes)];
  if (sizes.filter((size) => size > 0).length < 2 || allPositive === 0 || allNegative === 0) return NaN;
  return sumOf(
    sizes.map(
      (size, group) =>
        (size / all) * ((negative[group] as number) / allNegative - (positive[group] as number) / allPositive),
    ),
  );
}

/**
 * Computes the conditional demographic disparity as AIF360 does: the mean over groups, weighted by their sizes, of a
 * group's share of all negative decisions minus its share of all positive decisions,
 *
 *     CDD = sum_g N_g / N ( N_g- / N- - N_g+ / N+ ), in (-1, 1).
 *
 * The disparity is positive if larger groups have a larger share of the rejections than of the selections.
 *
 * Interpret it with care. The disparities of all groups sum to 0, so groups of equal size give 0 for any rates. The
 * result for two groups depends on the difference between the sizes of the groups. In contrast, the cited paper
 * computes the disparity of one group within strata of another attribute, and averages over the strata. For the gap
 * between groups, use `demographicParityDifference`.
 *
 * The result is NaN with fewer than two groups, or if all rows have the same outcome. Rows without a decision, a group
 * or a weight are excluded; counts are sums of `sampleWeight`.
 * @param yPred decisions, [n], 0 or 1; or the true labels, to measure the data
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a decision is not 0 or 1, or no row can be used
 * @see Wachter, Mittelstadt and Russell (2021), "Why fairness cannot be automated"
 * @example
 * ```ts
 * import { conditionalDemographicDisparity } from 'evenhand/metrics';
 *
 * console.log(conditionalDemographicDisparity([1, 0, 0, 1], ['a', 'a', 'a', 'b']));
 * // 0.25
 * ```
 */
export function conditionalDemographicDisparity(
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: DecisionRowOptions = {},
): number {
  assertKnownOptions('conditionalDemographicDisparity', options, DECISION_ROW_OPTION_NAMES);
  return conditionalDemographicDisparityOf(reduceColumns({ yPred, sensitive }, options));
}
