import type { AssociationWords } from './association-words.ts';

/** The association counts of a target in one or several texts: an entry for each group. */
type TargetCounts = ReadonlyMap<number, Float64Array>;

/** Counts of one text, which add up over texts. */
export interface TextCounts {
  /** By target, the association count of the target with each group. */
  readonly targets: TargetCounts;
  /** For each group, its association count with any context word; meaningless if no context is counted. */
  readonly context: Float64Array;
  /** The number of mentions of each group. */
  readonly mentions: Float64Array;
}

/**
 * Counts how often a target and a group occur together in one text: the product of both counts, divided by the number
 * of the group's words, because a longer list has more matches.
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
export interface NearOptions {
  readonly stopWords: ReadonlySet<string>;
  readonly beta: number;
}

/**
 * Computes how near a target is to a group's words in one text: the sum of beta^distance over all pairs, with distance
 * in words. Computes the same for all context words.
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
 * @param orders for each text, the group to which each of its groups is assigned; by default itself
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

/** A score of associations, with the words that it averages; frozen. */
export interface AssociationScore {
  /** The mean over words; NaN if no word has a score, and then `undefinedReason` states the reason. */
  readonly value: number;
  /** The score of each word that has one. */
  readonly perWord: Readonly<Record<string, number>>;
  /** The number of mentions of each group. */
  readonly mentions: Readonly<Record<string, number>>;
  readonly undefinedReason: string | null;
}

/** Returns the score of texts: the mean of the scores of the target words, or NaN with a reason if no word has one. */
export function associationScore(
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
