import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import type { ColumnSource } from '../../table/index.ts';
import { toFiniteNumbers } from '../reduce/row-arguments.ts';
import { dropMissing, RANKING_OPTION_NAMES, type RankingOptions, sumDiscounted } from './discounted-cumulative-gain.ts';
import { wholeNumber } from './number-options.ts';

/** The options of {@link normalizedDiscountedCumulativeGain}. */
export interface NormalizedGainOptions extends RankingOptions {
  /**
   * The scores of all who might have been ranked, in any order.
   * @defaultValue the scores of the ranking
   */
  readonly candidates?: ColumnSource | undefined;
}

const NORMALIZED_GAIN_OPTION_NAMES: OptionNames<NormalizedGainOptions> = { ...RANKING_OPTION_NAMES, candidates: true };

/**
 * Normalized discounted cumulative gain: the discounted gain of a ranking over
 * the best that its candidates allow, which is that of their largest scores in
 * descending order,
 *
 *     nDCG = DCG(ranking) / DCG(best), in [0, 1] where all who are ranked are among the candidates.
 *
 * 1 means that no score was given up. A ranking that was changed so that each
 * group has its share usually has less; the difference is what the change costs
 * by this measure. A ranking that leaves some of its `top` places empty is
 * measured by all of them. NaN where the best gain is 0, since all scores are.
 * Rows without a score are left out, and those below move up.
 * @param scores the scores of the rows ranked, [n], 0 or more, in the order of the ranking
 * @throws {DataValidationError} where a score is negative or not a finite number, or there is none
 * @throws {ValueError} for a `top` that is not a whole number from 1
 * @see Järvelin and Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques"
 * @example
 * ```ts
 * import { normalizedDiscountedCumulativeGain } from 'evenhand/metrics';
 *
 * console.log(normalizedDiscountedCumulativeGain([3, 2, 1]));
 * console.log(normalizedDiscountedCumulativeGain([3, 1], { candidates: [3, 2, 1] }).toFixed(4));
 * // 1
 * // 0.8520
 * ```
 */
export function normalizedDiscountedCumulativeGain(scores: ColumnSource, options: NormalizedGainOptions = {}): number {
  assertKnownOptions('normalizedDiscountedCumulativeGain', options, NORMALIZED_GAIN_OPTION_NAMES);
  const { top, candidates = scores } = options;
  if (top !== undefined) wholeNumber('normalizedDiscountedCumulativeGain', 'top', top);
  const ranked = readGains(scores, 'scores');
  const best = readGains(candidates, 'candidates').sort().reverse();
  const places = top ?? ranked.length;
  return sumDiscounted(ranked, places) / sumDiscounted(best, places);
}

function readGains(source: ColumnSource, name: string): Float64Array {
  const gains = toFiniteNumbers(source, name);
  const negative = gains.findIndex((gain) => gain < 0);
  if (negative < 0) return dropMissing(gains, name);
  throw new DataValidationError(
    `${name} must be 0 or more, but holds ${String(gains[negative])} at index ${String(negative)}.`,
    {
      context: { argument: name, index: negative, value: gains[negative] },
      suggestion: 'Scale the scores to [0, 1] by their least and largest.',
    },
  );
}
