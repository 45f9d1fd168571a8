import { tokenizeWords } from '../words.ts';

/**
 * Computes the Jaccard similarity |A and B| / |A or B| of two texts, where A and B are their sets of words. The
 * similarity is 0 if the texts have no word in common, and 1 if their sets of words are equal. The measure is
 * symmetric. `tokenizeWords` splits the texts.
 *
 * Degenerate cases: 1 if neither text has words, 0 if only one text has words.
 * @see P. Jaccard, The distribution of the flora in the alpine zone (1912)
 * @example
 * ```ts
 * import { jaccardSimilarity } from 'evenhand/llm-evals';
 *
 * console.log(jaccardSimilarity('He is a good engineer.', 'She is a good engineer.').toFixed(4));
 * // 0.6667
 * ```
 */
export function jaccardSimilarity(a: string, b: string): number {
  return jaccardOfLists(tokenizeWords(a), tokenizeWords(b));
}

/**
 * Computes the Jaccard similarity |A and B| / |A or B| of two lists, where A and B are their sets of items. The
 * similarity is from 0 to 1. Order and repetition do not matter. The measure is symmetric.
 *
 * Degenerate cases: 1 if both lists are empty, 0 if only one list is empty.
 * @see J. Zhang et al., Is ChatGPT fair for recommendation? (2023)
 * @example
 * ```ts
 * import { jaccardOfLists } from 'evenhand/llm-evals';
 *
 * console.log(jaccardOfLists(['Hamlet', 'Emma'], ['Emma', 'Dracula', 'Hamlet', 'Persuasion']));
 * // 0.5
 * ```
 */
export function jaccardOfLists(a: readonly string[], b: readonly string[]): number {
  const first = new Set(a);
  const second = new Set(b);
  let common = 0;
  for (const item of first) common += Number(second.has(item));
  const all = first.size + second.size - common;
  return all === 0 ? 1 : common / all;
}
