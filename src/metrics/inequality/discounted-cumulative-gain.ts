import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { toFiniteNumbers } from '../reduce/row-arguments.ts';
import { wholeNumber } from './entropy.ts';

/** Options of ranking measures. */
export interface RankingOptions {
  /**
   * The number of positions to include, starting with the first. If the ranking has fewer positions, all are included.
   * @defaultValue all
   */
  readonly top?: number | undefined;
}

/** Lists the options of {@link RankingOptions}. */
export const RANKING_OPTION_NAMES: OptionNames<RankingOptions> = { top: true };

/**
 * Computes the discounted cumulative gain of a ranking: the sum of the scores, discounted by the logarithm of their
 * position,
 *
 *     DCG = sum over positions i = 1..top of score_i / log2(i + 1).
 *
 * Rows without a score are excluded, and the positions of later rows decrease accordingly. AIF360 scales the scores to
 * [0, 1] when it creates a `RegressionDataset`; to reproduce its values, scale the scores first by their minimum and
 * maximum.
 * @param scores the scores of the ranked rows, [n], in the order of the ranking
 * @throws {DataValidationError} if a score is not a finite number, or there are no scores
 * @throws {ValueError} if `top` is not an integer of at least 1
 * @see Järvelin and Kekäläinen (2002), "Cumulated gain-based evaluation of IR techniques"
 * @example
 * ```ts
 * import { discountedCumulativeGain } from 'evenhand/metrics';
 *
 * console.log(discountedCumulativeGain([3, 2, 1]).toFixed(4), discountedCumulativeGain([3, 2, 1], { top: 1 }));
 * // 4.7619 3
 * ```
 */
export function discountedCumulativeGain(scores: ColumnSource, options: RankingOptions = {}): number {
  assertKnownOptions('discountedCumulativeGain', options, RANKING_OPTION_NAMES);
  const { top = Infinity } = options;
  if (top !== Infinity) wholeNumber('discountedCumulativeGain', 'top', top);
  return sumDiscounted(dropMissing(toFiniteNumbers(scores, 'scores'), 'scores'), top);
}

/** Returns the discounted sum of the first scores. */
function sumDiscounted(scores: Float64Array, top: number): number {
  let gain = 0;
  for (let index = 0; index < scores.length && index < top; index++) {
    gain += (scores[index] as number) / Math.log2(index + 2);
  }
  return gain;
}

/**
 * Returns the scores that are not missing, in their order.
 * @throws {DataValidationError} if all scores are missing
 */
function dropMissing(values: Float64Array, name: string): Float64Array {
  const scores = values.filter((score) => !Number.isNaN(score));
  if (scores.length > 0) return scores;
  throw new DataValidationError(`${name} holds no rows with a score, so there is no gain to measure.`, {
    code: 'empty-data',
    context: { argument: name },
    suggestion: 'Give the scores of the ranked rows, in the order of the ranking.',
  });
}

/** Options of {@link normalizedDiscountedCumulativeGain}. */
export interface NormalizedGainOptions extends RankingOptions {
  /**
   * The scores of all candidates for the ranking, in any order.
   * @defaultValue the scores of the ranking
   */
  readonly candidates?: ColumnSource | undefined;
}

const NORMALIZED_GAIN_OPTION_NAMES: OptionNames<NormalizedGainOptions> = { ...RANKING_OPTION_NAMES, candidates: true };

/**
 * Computes the normalized discounted cumulative gain: the discounted gain of a ranking divided by the best possible
 * gain, which is reached if the candidates are ranked by score in descending order,
 *
 *     nDCG = DCG(ranking) / DCG(best), in [0, 1] if all ranked rows are candidates.
 *
 * 1 means that the ranking is optimal. If a ranking was adjusted to give each group its share, its value is usually
 * lower. The difference measures the cost of the adjustment. Empty positions among the first `top` have a gain of 0.
 * The result is NaN if the best gain is 0. Rows without a score are excluded, and the positions of later rows decrease
 * accordingly.
 * @param scores the scores of the ranked rows, [n], 0 or more, in the order of the ranking
 * @throws {DataValidationError} if a score is negative or not a finite number, or there are no scores
 * @throws {ValueError} if `top` is not an integer of at least 1
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
  const count = top ?? ranked.length;
  return sumDiscounted(ranked, count) / sumDiscounted(best, count);
}

function readGains(source: ColumnSource, name: string): Float64Array {
  const gains = toFiniteNumbers(source, name);
  const negative = gains.findIndex((gain) => gain < 0);
  if (negative < 0) return dropMissing(gains, name);
  throw new DataValidationError(
    `${name} must be 0 or more, but holds ${String(gains[negative])} at index ${String(negative)}.`,
    {
      code: 'invalid-value',
      context: { argument: name, index: negative, value: gains[negative] },
      suggestion: 'Scale the scores to [0, 1] by their minimum and maximum.',
    },
  );
}
