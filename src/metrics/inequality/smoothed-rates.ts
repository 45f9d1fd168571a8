import type { OptionNames } from '../../internal/known-options.ts';
import { type ClassificationStats, sumCells } from '../statistics/group-stats.ts';
import { finiteNumber } from './number-options.ts';

/** The options of differential fairness. */
export interface DifferentialFairnessOptions {
  /**
   * Rows added to each group, half of them positive: a Dirichlet prior that
   * keeps small groups from extreme rates. 0 is no smoothing.
   * @defaultValue 1
   */
  readonly concentration?: number | undefined;
}

/** Lists the options of {@link DifferentialFairnessOptions}. */
export const DIFFERENTIAL_FAIRNESS_OPTION_NAMES: OptionNames<DifferentialFairnessOptions> = { concentration: true };

/**
 * Fills in the default and checks what was given.
 * @throws {ValueError} for a concentration under 0 or not finite
 */
export function fillConcentration(who: string, { concentration = 1 }: DifferentialFairnessOptions): number {
  return finiteNumber(who, 'concentration', concentration, 'Use 1, or 0 for no smoothing.', 0);
}

/**
 * The epsilon of differential fairness of an outcome that some cells hold: the
 * largest |ln ratio| of smoothed rates over outcomes and pairs of groups. NaN
 * with fewer than two groups.
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
    const [least, largest] = [Math.min(...logRates), Math.max(...logRates)];
    // An outcome that no group ever has sets none apart.
    return largest === -Infinity ? 0 : largest - least;
  });
  return Math.max(...spreads);
}
