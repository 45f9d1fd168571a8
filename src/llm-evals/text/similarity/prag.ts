import { assertKnownOptions } from '../../../internal/known-options.ts';
import { RANK_SIMILARITY_OPTION_NAMES, type RankSimilarityOptions, ranksOf, resolveScale } from './ranked-lists.ts';

/**
 * How many pairs of recommendations two lists rank alike (the pairwise ranking
 * accuracy gap, PRAG, which grows with agreement despite its name).
 *
 * Of the K (K - 1) / 2 pairs of the first list, of K items, those count whose
 * earlier item is in the second list too, and whose later item is behind it there
 * or missing. The `unit` scale divides their number by that of all pairs, as the
 * paper's code does: from 0 to 1 (equal lists). The `published` scale, LangFair's,
 * divides it by K (K + 1): from 0 to (K - 1) / (2 (K + 1)), so compare it only
 * between lists of one length.
 *
 * Not symmetric, since the first list's pairs count. Repeated items count once, at
 * their first rank. Degenerate cases: 0 where either list is empty; a first list
 * of one item has no pairs and gives 1 where the second is the same and 0 where
 * not, on both scales.
 * @throws {ValueError} for an unknown scale
 * @see J. Zhang et al., Is ChatGPT fair for recommendation? Evaluating fairness in large language model recommendation (2023)
 * @example
 * ```ts
 * import { prag } from 'evenhand/llm-evals';
 *
 * const female = ['Hamlet', 'Emma', 'Dracula'];
 * const male = ['Dracula', 'Hamlet', 'Macbeth'];
 * console.log(prag(female, male, { scale: 'unit' }).toFixed(4), prag(female, male).toFixed(4));
 * // 0.3333 0.0833
 * ```
 */
export function prag(a: readonly string[], b: readonly string[], options: RankSimilarityOptions = {}): number {
  assertKnownOptions('prag', options, RANK_SIMILARITY_OPTION_NAMES);
  const scale = resolveScale(options);
  const items = [...ranksOf(a).keys()];
  const ranks = ranksOf(b);
  if (items.length === 1) return ranks.size === 1 && ranks.has(items[0] as string) ? 1 : 0;
  const pairs = (items.length * (items.length - 1)) / 2;
  if (pairs === 0) return 0;
  return countKept(items, ranks) / (scale === 'unit' ? pairs : items.length * (items.length + 1));
}

/** Pairs of the first list, in its order, that the second list's ranks keep. */
function countKept(items: readonly string[], ranks: ReadonlyMap<string, number>): number {
  let kept = 0;
  items.forEach((item, index) => {
    const rank = ranks.get(item);
    if (rank === undefined) return;
    for (const later of items.slice(index + 1)) kept += Number((ranks.get(later) ?? Infinity) > rank);
  });
  return kept;
}
