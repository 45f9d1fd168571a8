import type { AssociationWords } from './association-words.ts';

/** What one text, or several together, say of a target: an entry for each group. */
type TargetCounts = ReadonlyMap<number, Float64Array>;

/** Counts of one text that add up over texts. */
export interface TextCounts {
  /** By target: of each group, what the text says of both. */
  readonly targets: TargetCounts;
  /** Of each group, what the text says of it and any word of context; without meaning where no context is counted. */
  readonly context: Float64Array;
  /** How often each group is mentioned. */
  readonly mentions: Float64Array;
}

/**
 * How often a target and a group occur in one text together: the product of both counts,
 * over the number of the group's words, as a longer list is met more often.
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

/** What {@link countNear} needs beside the words. */
export interface NearOptions {
  readonly stopWords: ReadonlySet<string>;
  readonly beta: number;
}

/**
 * How near a target is to a group's words in one text: the sum of beta^distance over
 * all pairs, in words; and the same over all words of context.
 */
export function countNear(
  tokens: readonly string[],
  words: AssociationWords,
  { stopWords, beta }: NearOptions,
): TextCounts {
  const mentions = countMentions(tokens, words);
  const places = [...tokens.entries()].filter(([, token]) => words.groupOf.has(token));
  const targets = new Map<number, Float64Array>();
  const context = new Float64Array(mentions.length);
  tokens.forEach((token, place) => {
    if (stopWords.has(token) || words.groupOf.has(token)) return;
    const near = new Float64Array(mentions.length);
    for (const [other, word] of places) {
      const group = words.groupOf.get(word) as number;
      near[group] = (near[group] as number) + beta ** Math.abs(place - other);
    }
    addEach(context, near);
    const target = words.targetOf.get(token);
    if (target !== undefined) addTo(targets, target, near);
  });
  return { targets, context, mentions };
}

/**
 * The counts of several texts together.
 * @param orders which group each of a text's groups is taken for; left out, itself
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
    const place = order === undefined ? group : (order[group] as number);
    sum[place] = (sum[place] as number) + (counts[group] as number);
  }
}

/** A score of associations, and the words that it is the mean of. Frozen. */
export interface AssociationScore {
  /** The mean over words; NaN where no word has a score, and then `undefinedReason` says why. */
  readonly value: number;
  /** Each word that has a score. */
  readonly perWord: Readonly<Record<string, number>>;
  /** How often each group is mentioned. */
  readonly mentions: Readonly<Record<string, number>>;
  readonly undefinedReason: string | null;
}
