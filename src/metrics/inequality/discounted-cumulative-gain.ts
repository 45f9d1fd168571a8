import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import type { ColumnSource } from '../../table/index.ts';
import { toFiniteNumbers } from '../reduce/row-arguments.ts';
import { wholeNumber } from './number-options.ts';

/** The options of measures of a ranking. */
export interface RankingOptions {
  /**
   * How many places count, from the first; all where there are fewer.
   * @defaultValue all
   */
  readonly top?: number | undefined;
}

/** Lists the options of {@link RankingOptions}. */
export const RANKING_OPTION_NAMES: OptionNames<RankingOptions> = { top: true };

/**
 * Discounted cumulative gain of a ranking: the scores by place, discounted by
 * the logarithm of the place,
 *
 *     DCG = sum over places i = 1..top of score_i / log2(i + 1).
 *
 * Rows without a score are left out, and those below move up. AIF360 scales the
 * scores to [0, 1] when it makes a `RegressionDataset`; scale them before, by
 * their least and largest, for its numbers.
 * @param scores the scores of the rows ranked, [n], in the order of the ranking
 * @throws {DataValidationError} where a score is not a finite number, or there is none
 * @throws {ValueError} for a `top` that is not a whole number from 1
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

/** The discounted sum of the first scores. */
export function sumDiscounted(scores: Float64Array, top: number): number {
  let gain = 0;
  for (let place = 0; place < scores.length && place < top; place++) {
    gain += (scores[place] as number) / Math.log2(place + 2);
  }
  return gain;
}

/**
 * The scores that are there, in their order.
 * @throws {DataValidationError} where none is
 */
export function dropMissing(values: Float64Array, name: string): Float64Array {
  const scores = values.filter((score) => !Number.isNaN(score));
  if (scores.length > 0) return scores;
  throw new DataValidationError(`${name} holds no rows with a score, so there is no gain to measure.`, {
    context: { argument: name },
    suggestion: 'Give the scores of the rows ranked, in the order of the ranking.',
  });
}
