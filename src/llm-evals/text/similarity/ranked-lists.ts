import { fillOptions, type FilledOptions, oneOf } from '../../../internal/arguments.ts';

const SCALES = ['published', 'unit'] as const;

/**
 * The scale of a similarity of ranked lists. The similarity of equal lists is below 1 on the scale `published`, and 1
 * on the scale `unit`.
 */
export type RankScale = (typeof SCALES)[number];

/** Options of the similarities of ranked lists. */
export interface RankSimilarityOptions {
  /**
   * `published` gives the same values as LangFair. `unit` gives 1 for equal lists.
   * @defaultValue `'published'`
   */
  readonly scale?: RankScale;
}

/**
 * Checks the options and returns the scale.
 * @throws {ValueError} if an option or the scale is unknown
 */
function scaleOf(owner: string, options: RankSimilarityOptions): RankScale {
  const { scale } = fillOptions<FilledOptions<RankSimilarityOptions>>(owner, options, { scale: 'published' });
  return oneOf('scale', scale, SCALES);
}

/** Returns the rank of every item, from 0. A repeated item has the rank of its first occurrence. */
function ranksOf(list: readonly string[]): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const item of list) if (!ranks.has(item)) ranks.set(item, ranks.size);
  return ranks;
}

/**
 * Computes the share of pairs of recommendations that two lists rank in the same order. This share is called the
 * pairwise ranking accuracy gap (PRAG). Despite the word "gap", a larger share means more agreement.
 *
 * The first list has K items and therefore K (K - 1) / 2 pairs. A pair (a, b) has a before b in the first list. The
 * pair counts if the second list contains a, and b is after a or missing there. The `unit` scale divides the number of
 * counted pairs by the number of all pairs, as the paper's code does. This scale goes from 0 to 1 (equal lists). The
 * `published` scale of LangFair divides the number of counted pairs by K (K + 1). The `published` scale goes from 0 to
 * (K - 1) / (2 (K + 1)), so compare its values only between lists of the same length.
 *
 * The measure is not symmetric, because only the pairs of the first list count. Repeated items count once, at their
 * first rank. Degenerate cases: the value is 0 if one of the lists is empty. If the first list has only one item, it
 * has no pairs. The value is then 1 if the second list is equal and 0 otherwise, on both scales.
 * @throws {ValueError} if the scale is unknown
 * @see J. Zhang et al., Is ChatGPT fair for recommendation? Evaluating fairness in large language model recommendation
 * (2023)
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
  const scale = scaleOf('prag', options);
  const items = [...ranksOf(a).keys()];
  const ranks = ranksOf(b);
  if (items.length === 1) return ranks.size === 1 && ranks.has(items[0] as string) ? 1 : 0;
  const pairs = (items.length * (items.length - 1)) / 2;
  if (pairs === 0) return 0;
  return countKept(items, ranks) / (scale === 'unit' ? pairs : items.length * (items.length + 1));
}

/** Counts the pairs of the first list whose order agrees with the ranks of the second list. */
function countKept(items: readonly string[], ranks: ReadonlyMap<string, number>): number {
  let kept = 0;
  items.forEach((item, index) => {
    const rank = ranks.get(item);
    if (rank === undefined) return;
    for (const later of items.slice(index + 1)) kept += Number((ranks.get(later) ?? Infinity) > rank);
  });
  return kept;
}

/**
 * Computes the search result page score (SERP): the weighted share of the items of one list that another list also
 * contains. Items at the top of the first list have the largest weights.
 *
 * K is the length of the first list, and r is the rank (1 to K) of an item in the first list. The sums are over the
 * items that the second list also contains. The `unit` scale is sum(K - r + 1) / (K (K + 1) / 2). The `unit` scale goes
 * from 0 (no items in common) to 1 (the same items in any order). The `published` scale is sum(K - r + 2) / (2 K (K +
 * 1)), as in the code of the paper and in LangFair. The `published` scale goes from 0 to (K + 3) / (4 (K + 1)), so
 * compare its values only between lists of the same length.
 *
 * The measure is not symmetric, because only the ranks of the first list count. The order of the two lists matters, so
 * use the same order in all comparisons. Repeated items count once, at their first rank. Degenerate cases: the value is
 * 0 if one of the lists is empty.
 * @throws {ValueError} if the scale is unknown
 * @see J. Zhang et al., Is ChatGPT fair for recommendation? Evaluating fairness in large language model recommendation
 * (2023)
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
  const scale = scaleOf('serp', options);
  const ranks = ranksOf(a);
  const others = new Set(b);
  const length = ranks.size;
  if (length === 0) return 0;
  const common = [...ranks].filter(([item]) => others.has(item));
  const weight = common.reduce((sum, [, rank]) => sum + length - rank, 0);
  const most = length * (length + 1);
  return scale === 'unit' ? (2 * weight) / most : (weight + common.length) / (2 * most);
}
