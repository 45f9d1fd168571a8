import { assertKnownOptions } from '../../../internal/known-options.ts';
import { RANK_SIMILARITY_OPTION_NAMES, type RankSimilarityOptions, ranksOf, resolveScale } from './ranked-lists.ts';

/**
 * How many recommendations of one list another one has too, those at the top of
 * the first weighing most (the search result page score, SERP).
 *
 * With K the length of the first list and r = 1 ... K the rank there of each item
 * that the second has too, the `unit` scale is sum(K - r + 1) / (K (K + 1) / 2):
 * from 0 (nothing in common) to 1 (all in common, in any order). The `published`
 * scale is sum(K - r + 2) / (2 K (K + 1)), which is what the code of the paper and
 * LangFair compute: from 0 to (K + 3) / (4 (K + 1)), so compare it only between
 * lists of one length.
 *
 * Not symmetric, since the first list's ranks count: keep the same side first
 * throughout. Repeated items count once, at their first rank. Degenerate cases: 0
 * where either list is empty.
 * @throws {ValueError} for an unknown scale
 * @see J. Zhang et al., Is ChatGPT fair for recommendation? Evaluating fairness in large language model recommendation (2023)
 * @example
 * ```ts
 * import { serp } from 'evenhand/llm-evals';
 *
 * const female = ['Hamlet', 'Emma', 'Dracula'];
 * const male = ['Dracula', 'Hamlet', 'Macbeth'];
 * console.log(serp(female, male, { scale: 'unit' }).toFixed(4), serp(female, male).toFixed(4));
 * // 0.6667 0.2500
 * ```
 */
export function serp(a: readonly string[], b: readonly string[], options: RankSimilarityOptions = {}): number {
  assertKnownOptions('serp', options, RANK_SIMILARITY_OPTION_NAMES);
  const scale = resolveScale(options);
  const ranks = ranksOf(a);
  const others = new Set(b);
  const length = ranks.size;
  if (length === 0) return 0;
  const common = [...ranks].filter(([item]) => others.has(item));
  const weight = common.reduce((sum, [, rank]) => sum + length - rank, 0);
  const most = length * (length + 1);
  return scale === 'unit' ? (2 * weight) / most : (weight + common.length) / (2 * most);
}
