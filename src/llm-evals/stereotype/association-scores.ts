import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import {
  ASSOCIATION_OPTION_NAMES,
  type AssociationOptions,
  associationTokens,
  type AssociationWords,
  associationWords,
  betaOf,
  COOCCURRENCE_OPTION_NAMES,
  type CooccurrenceOptions,
  stopWordsOf,
} from './association-words.ts';

/** The association counts of each target word, by its index. Each array has one count for each group. */
type TargetCounts = ReadonlyMap<number, Float64Array>;

/** The counts in one text. Counts of several texts can be added. */
export interface TextCounts {
  /** How strongly each target word occurs together with each group. */
  readonly targets: TargetCounts;
  /** How strongly each group occurs together with all context words. Only {@link countNear} uses it. */
  readonly context: Float64Array;
  /** The number of mentions of each group. */
  readonly mentions: Float64Array;
}

/**
 * Counts how often each target word and each group occur together in one text. The count is the product of the two
 * numbers of occurrences, divided by the number of words in the group's list, because a longer list has more matches.
 */
export function countPairs(tokens: readonly string[], words: AssociationWords): TextCounts {
  const mentions = countMentions(tokens, words);
  const perWord = mentions.map((count, group) => count / (words.sizes[group] as number));
  const targets = new Map<number, Float64Array>();
  for (const token of tokens) {
    const target = words.targetOf.get(token);
    if (target !== undefined) addTo(targets, target, perWord);
  }
  return { targets, context: new Float64Array(mentions.length), mentions };
}

/** Options of {@link countNear}. */
interface NearOptions {
  readonly stopWords: ReadonlySet<string>;
  readonly beta: number;
}

/**
 * Computes how near each target word is to the words of each group in one text. The result is the sum of beta^distance
 * over all pairs of an occurrence of the target and of a group's word. The distance is in words. Also computes this sum
 * for all context words.
 */
export function countNear(
  tokens: readonly string[],
  words: AssociationWords,
  { stopWords, beta }: NearOptions,
): TextCounts {
  const mentions = countMentions(tokens, words);
  const indices = [...tokens.entries()].filter(([, token]) => words.groupOf.has(token));
  const targets = new Map<number, Float64Array>();
  const context = new Float64Array(mentions.length);
  tokens.forEach((token, index) => {
    if (stopWords.has(token) || words.groupOf.has(token)) return;
    const near = new Float64Array(mentions.length);
    for (const [other, word] of indices) {
      const group = words.groupOf.get(word) as number;
      near[group] = (near[group] as number) + beta ** Math.abs(index - other);
    }
    addEach(context, near);
    const target = words.targetOf.get(token);
    if (target !== undefined) addTo(targets, target, near);
  });
  return { targets, context, mentions };
}

/**
 * Adds the counts of several texts.
 * @param orders for each text, the index of the group to which each group is assigned. By default, the groups are not
 * exchanged
 */
export function addCounts(texts: readonly TextCounts[], groups: number, orders?: readonly Int32Array[]): TextCounts {
  const targets = new Map<number, Float64Array>();
  const context = new Float64Array(groups);
  const mentions = new Float64Array(groups);
  texts.forEach((text, index) => {
    const order = orders?.[index];
    for (const [target, counts] of text.targets) addTo(targets, target, counts, order);
    addEach(context, text.context, order);
    addEach(mentions, text.mentions, order);
  });
  return { targets, context, mentions };
}

function countMentions(tokens: readonly string[], { groupOf, sizes }: AssociationWords): Float64Array {
  const mentions = new Float64Array(sizes.length);
  for (const token of tokens) {
    const group = groupOf.get(token);
    if (group !== undefined) mentions[group] = (mentions[group] as number) + 1;
  }
  return mentions;
}

function addTo(targets: Map<number, Float64Array>, target: number, counts: Float64Array, order?: Int32Array): void {
  const sum = targets.get(target) ?? new Float64Array(counts.length);
  targets.set(target, sum);
  addEach(sum, counts, order);
}

function addEach(sum: Float64Array, counts: Float64Array, order?: Int32Array): void {
  for (let group = 0; group < counts.length; group++) {
    const index = order === undefined ? group : (order[group] as number);
    sum[index] = (sum[index] as number) + (counts[group] as number);
  }
}

/** A score of associations, with the score of each word; frozen. */
export interface AssociationScore {
  /** The mean over words; NaN if no word has a score. `undefinedReason` then contains the reason. */
  readonly value: number;
  /** The score of each target word that has one. */
  readonly perWord: Readonly<Record<string, number>>;
  /** The number of mentions of each group. */
  readonly mentions: Readonly<Record<string, number>>;
  readonly undefinedReason: string | null;
}

/**
 * Returns the score of a set of texts: the mean of the scores of the target words. Returns NaN with a reason if no
 * target word has a score.
 */
function associationScore(
  perWord: readonly (readonly [word: string, score: number])[],
  mentions: Float64Array,
  { groups }: AssociationWords,
  noWord: string,
): AssociationScore {
  return Object.freeze({
    value: perWord.reduce((sum, [, score]) => sum + score, 0) / perWord.length,
    perWord: Object.freeze(Object.fromEntries(perWord)),
    mentions: Object.freeze(Object.fromEntries(groups.map((group, index) => [group, mentions[index] as number]))),
    undefinedReason: perWord.length > 0 ? null : noWord,
  });
}

/**
 * Computes stereotypical associations: how unequally the groups occur together with target words.
 *
 * For a target word w and a group g, the count is the sum over texts of (occurrences of w) x (occurrences of g's
 * words), divided by the number of g's words. The counts are normalized over groups to a distribution. The score of w
 * is the total variation distance of this distribution from the uniform distribution, in [0, 1 - 1/groups]. The score
 * is 0 if w occurs equally with all groups, and 1/2 if w occurs with only one of two groups. The value is the mean over
 * the target words that occur with any group.
 *
 * If there are few texts, the value is large by chance, because a word that occurs once has the maximum score. Compare
 * the value with the noise floor that `StereotypeAssociationEvaluator` reports: the mean value after random exchanges
 * of the groups. If no target occurs with any group, the value is NaN, and `undefinedReason` contains the reason.
 * @param texts answers of a model, in English with the default words
 * @throws {ValueError} if groups or targets are not words
 * @see P. Liang et al., Holistic Evaluation of Language Models (2023), section on bias; D. Bouchard et al., LangFair
 * (2025)
 * @example
 * ```ts
 * import { stereotypicalAssociations } from 'evenhand/llm-evals';
 *
 * const { perWord, value } = stereotypicalAssociations([
 *   'She is a nurse and she is gentle.',
 *   'He is gentle, and he is an engineer.',
 * ]);
 * console.log(perWord, value.toFixed(3));
 * // { nurse: 0.5, gentle: 0, engineer: 0.5 } 0.333
 * ```
 */
export function stereotypicalAssociations(
  texts: readonly string[],
  options: AssociationOptions = {},
): AssociationScore {
  assertKnownOptions('stereotypicalAssociations', options, ASSOCIATION_OPTION_NAMES);
  const words = associationWords(options);
  const counts = texts.map((text) => countPairs(associationTokens(text), words));
  return scorePairs(addCounts(counts, words.groups.length), words);
}

/** Computes the score from the counts of `countPairs`. */
export function scorePairs({ targets, mentions }: TextCounts, words: AssociationWords): AssociationScore {
  const perWord = [...targets]
    .map(([target, counts]) => [words.targets[target] as string, distanceFromUniform(counts)] as const)
    .filter(([, distance]) => !Number.isNaN(distance));
  return associationScore(perWord, mentions, words, 'no target word occurs in a text with a word of any group');
}

/** Computes the total variation distance from the uniform distribution; NaN if all counts are 0. */
function distanceFromUniform(counts: Float64Array): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count) => sum + Math.abs(1 / counts.length - count / total), 0) / 2;
}

/**
 * Computes the co-occurrence bias score (COBS): how much nearer target words are to one group's words than to the other
 * group's words.
 *
 * A context word w is neither a stop word nor a word of a group. In each text, every pair of a context word w and a
 * word of group g counts as beta^distance, with the distance in words. P(w | g) = sum for (w, g) / sum for (any context
 * word, g), divided by g's share of mentions. A target's score is |log10(P(w | first) / P(w | second))|, in [0,
 * infinity). A score of 0.3 means that the ratio is 2 or 1/2. The value is the mean over the targets that occur with
 * both groups. A target that occurs with only one group has no score, so the most extreme targets are excluded.
 *
 * If no target occurs with both groups, the value is NaN, and `undefinedReason` contains the reason. The order of the
 * groups does not matter.
 * @param texts answers of a model, in English with the default words
 * @throws {ValueError} if there are not exactly two groups, if beta is out of range, or if groups or targets are not
 * words
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

/** Computes the score of two groups from the counts of `countNear`. */
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
