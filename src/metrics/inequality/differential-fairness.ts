import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { CELLS_BY_DECISION, type ClassificationStats, sumCells } from '../statistics/group-stats.ts';
import { DECISION_ROW_OPTION_NAMES, type DecisionRowOptions, finiteNumber, reduceColumns } from './entropy.ts';

/** Options of differential fairness. */
export interface DifferentialFairnessOptions {
  /**
   * The number of rows added to each group. Half of the added rows are positive. This Dirichlet prior prevents
   * extreme rates in small groups. 0 means no smoothing.
   * @defaultValue 1
   */
  readonly concentration?: number | undefined;
}

/** Lists the options of {@link DifferentialFairnessOptions}. */
export const DIFFERENTIAL_FAIRNESS_OPTION_NAMES: OptionNames<DifferentialFairnessOptions> = { concentration: true };

/**
 * Applies the default and checks the value.
 * @throws {ValueError} if the concentration is below 0 or not finite
 */
export function fillConcentration(who: string, { concentration = 1 }: DifferentialFairnessOptions): number {
  return finiteNumber(who, 'concentration', concentration, 'Use 1, or 0 for no smoothing.', 0);
}

/**
 * Computes the epsilon of differential fairness for the outcome that `cells` defines. Epsilon is the largest |ln ratio|
 * of the smoothed rates of two groups, over both outcomes and all pairs of groups. The epsilon is NaN with fewer than
 * two groups.
 */
export function largestLogRatio(
  stats: ClassificationStats,
  cells: { readonly positive: readonly number[]; readonly negative: readonly number[] },
  concentration: number,
): number {
  const positive = sumCells(stats.weights, cells.positive);
  const negative = sumCells(stats.weights, cells.negative);
  const present = Array.from(positive.keys()).filter(
    (group) => (positive[group] as number) + (negative[group] as number) > 0,
  );
  if (present.length < 2) return NaN;
  const spreads = [positive, negative].map((outcome) => {
    const logRates = present.map((group) => {
      const total = (positive[group] as number) + (negative[group] as number);
      return Math.log(((outcome[group] as number) + concentration / 2) / (total + concentration));
    });
    const [min, largest] = [Math.min(...logRates), Math.max(...logRates)];
    // An outcome that never occurs does not distinguish any groups.
    return largest === -Infinity ? 0 : largest - min;
  });
  return Math.max(...spreads);
}

/**
 * Computes the metric from per-group statistics.
 * @throws {ValueError} if the concentration is below 0 or not finite
 */
export function empiricalDifferentialFairnessOf(
  stats: ClassificationStats,
  options: DifferentialFairnessOptions = {},
): number {
  assertKnownOptions('empiricalDifferentialFairnessOf', options, DIFFERENTIAL_FAIRNESS_OPTION_NAMES);
  return largestLogRatio(stats, CELLS_BY_DECISION, fillConcentration('empiricalDifferentialFairness', options));
}

const KNOWN_OPTIONS = { ...DIFFERENTIAL_FAIRNESS_OPTION_NAMES, ...DECISION_ROW_OPTION_NAMES };

/**
 * Computes the smoothed empirical differential fairness: the largest logarithm of the ratio of two groups'
 * probabilities of the same outcome. With concentration c, and n_gk of the n_g rows of a group with outcome k,
 *
 *     EDF = max over k in {0, 1}, groups g, h of | ln p_k(g) - ln p_k(h) |,
 *     p_k(g) = (n_gk + c / 2) / (n_g + c), 0 or more.
 *
 * 0 means that outcomes do not depend on the group; ln 2 means that one group has an outcome twice as often as another
 * group. Both outcomes count, so the choice of the positive outcome does not matter. The definition is intended for
 * intersectional groups. To measure such groups, pass several attributes.
 *
 * All groups are included, regardless of their size, since smoothing limits the effect of small groups. The result is
 * NaN with fewer than two groups. Without smoothing, the result is Infinity if an outcome occurs in one group but never
 * in another group. Rows without a decision, a group or a weight are excluded. Counts are sums of `sampleWeight`, and
 * smoothing is relative to these sums.
 * @param yPred decisions, [n], 0 or 1; or the true labels, to measure the data
 * @param sensitive the group of each row, [n], or an object of several attributes, which are then crossed
 * @throws {DataValidationError} if lengths differ, a decision is not 0 or 1, or no row can be used
 * @throws {ValueError} if the concentration is below 0 or not finite
 * @see Foulds, Islam, Keya and Pan (2020), "An intersectional definition of fairness"
 * @example
 * ```ts
 * import { empiricalDifferentialFairness } from 'evenhand/metrics';
 *
 * const edf = empiricalDifferentialFairness([1, 0, 0, 1, 1, 0], ['a', 'a', 'a', 'b', 'b', 'b']);
 * console.log(edf.toFixed(4), Math.exp(edf).toFixed(4));
 * // 0.5108 1.6667
 * ```
 */
export function empiricalDifferentialFairness(
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: DifferentialFairnessOptions & DecisionRowOptions = {},
): number {
  assertKnownOptions('empiricalDifferentialFairness', options, KNOWN_OPTIONS);
  const stats = reduceColumns({ yPred, sensitive }, options);
  return empiricalDifferentialFairnessOf(stats, { concentration: options.concentration });
}
