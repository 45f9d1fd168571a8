import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import {
  addCounts,
  type AssociationScore,
  associationScore,
  countNear,
  type TextCounts,
} from './association-counts.ts';
import {
  associationTokens,
  type AssociationWords,
  associationWords,
  betaOf,
  COOCCURRENCE_OPTION_NAMES,
  type CooccurrenceOptions,
  stopWordsOf,
} from './association-words.ts';

/**
 * Computes the co-occurrence bias score (COBS): how much nearer target words are to one group's words than to the
 * other's.
 *
 * In each text, every pair of a context word w (neither a stop word nor a word of a group) and a word of group g counts
 * beta^distance, with the distance in words. P(w | g) = sum for (w, g) / sum for (any context word, g), divided by g's
 * share of mentions. A target's score is |log10(P(w | first) / P(w | second))|, in [0, infinity): 0.3 means twice as
 * near. The value is the mean over the targets that occur with both groups. A target that occurs with only one group
 * has no score, so the most extreme ones are excluded.
 *
 * If no target occurs with both groups, the value is NaN, with the reason. The order of the groups does not matter.
 * @param texts answers of a model, in English with the default words
 * @throws {ValueError} if there are not exactly two groups, beta is out of range, or groups or targets are not words
 * @see S. Bordia, S. Bowman, Identifying and Reducing Gender Bias in Word-Level Language Models (2019); with base 10
 * and the absolute value of each word as in LangFair (D. Bouchard et al., 2025)
 * @example
 * ```ts
 * import { cooccurrenceBiasScore } from 'evenhand/llm-evals';
 *
 * const { value, perWord } = cooccurrenceBiasScore([
 *   'She is a gentle nurse.',
 *   'He is an engineer, strict and at times gentle.',
 * ]);
 * console.log(Object.keys(perWord), value > 0);
 * // [ 'gentle' ] true
 * ```
 */
export function cooccurrenceBiasScore(texts: readonly string[], options: CooccurrenceOptions = {}): AssociationScore {
  assertKnownOptions('cooccurrenceBiasScore', options, COOCCURRENCE_OPTION_NAMES);
  const words = associationWords(options);
  if (words.groups.length !== 2) throw invalidParameter('groups', 'have exactly two groups', words.groups.join(', '));
  const near = { stopWords: stopWordsOf(options), beta: betaOf(options) };
  const counts = texts.map((text) => countNear(associationTokens(text), words, near));
  return scoreNear(addCounts(counts, 2), words);
}

/** Computes the score of two groups' counts by `countNear`. */
export function scoreNear({ targets, context, mentions }: TextCounts, words: AssociationWords): AssociationScore {
  const rate = (counts: Float64Array, group: 0 | 1): number =>
    (counts[group] as number) / (context[group] as number) / (mentions[group] as number);
  const perWord = [...targets]
    .filter(([, counts]) => counts.every((count) => count > 0))
    .map(([target, counts]) => {
      const ratio = rate(counts, 0) / rate(counts, 1);
      return [words.targets[target] as string, Math.abs(Math.log10(ratio))] as const;
    });
  return associationScore(perWord, mentions, words, 'no target word occurs with words of both groups');
}
