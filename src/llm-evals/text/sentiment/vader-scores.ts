import { wordList, wordSet } from '../words.ts';
import { VADER_EMOJI } from './vader-emoji.ts';
import { VADER_LEXICON } from './vader-lexicon.ts';

/** The value that a booster adds to the strength of the next word, and that a dampener subtracts. */
const BOOST = 0.293;

/** The value that is added to the strength of a word in capitals, if other words are not in capitals. */
const CAPITALS = 0.733;

/** The factor by which a negation multiplies a rating. */
const NEGATION = -0.74;

/** Words that negate the words after them. Words that contain "n't" also negate, but are not listed. */
const NEGATIONS = wordSet(
  `aint arent cannot cant couldnt darent despite didnt doesnt dont hadnt hasnt havent isnt mightnt
  mustnt neednt neither never none nope nor not nothing nowhere oughtnt rarely seldom shant shouldnt
  uh-uh uhuh wasnt werent without wont wouldnt`,
);

/** An underscore represents the space between two words. */
const BOOSTERS = `absolutely amazingly awfully completely considerable considerably decidedly deeply effing enormous
  enormously entirely especially exceptional exceptionally extreme extremely fabulously flippin
  flipping frackin fracking frickin fricking friggin frigging fuckin fucking fuggin fugging fully
  greatly hella highly hugely incredible incredibly intensely major majorly more most particularly
  purely quite really remarkably so substantially thoroughly total totally tremendous tremendously
  uber unbelievably unusually utter utterly very`;

const DAMPENERS = `almost barely hardly just_enough kind-of kind_of kinda kindof less little marginal marginally
  occasional occasionally partly scarce scarcely slight slightly somewhat sort-of sort_of sorta sortof`;

/**
 * The value that a booster or dampener adds to the strength of the next word. The keys are words and pairs of words in
 * lower case.
 */
const STRENGTHS = new Map([...strengths(BOOSTERS, BOOST), ...strengths(DAMPENERS, -BOOST)]);

/** Phrases in lower case with their own ratings. */
const PHRASES = new Map([
  ['the shit', 3],
  ['the bomb', 3],
  ['bad ass', 1.5],
  ['badass', 1.5],
  ['bus stop', 0],
  ['yeah right', -2],
  ['kiss of death', -1.5],
  ['to die for', 3],
  ['beating heart', 3.5],
]);

/** Returns whether a word, in lower case, negates the words after it. */
function negates(word: string): boolean {
  return NEGATIONS.has(word) || word.includes("n't");
}

function strengths(words: string, strength: number): [string, number][] {
  return wordList(words).map((word) => [word.replace('_', ' '), strength]);
}

/** The words of a text, prepared for the rules, as parallel arrays. */
interface VaderWords {
  /** The words in lower case, without surrounding punctuation. */
  readonly lower: readonly string[];
  /** Whether each word is in capitals. */
  readonly isCapitals: readonly boolean[];
  /** Whether some words are in capitals and others are not. Capitals then mean emphasis. */
  readonly hasEmphasis: boolean;
}

/**
 * Matches white space as Python defines it. Unlike JavaScript, it excludes U+FEFF, and includes four separators and
 * U+0085.
 */
// eslint-disable-next-line no-control-regex -- the four separators are control characters
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

const EMOJI = new Map(
  VADER_EMOJI.flatMap((line) => line.split('|')).map((entry): [string, string] => {
    const space = entry.indexOf(' ');
    return [entry.slice(0, space), entry.slice(space + 1)];
  }),
);

/** Replaces the emoji of a text with words. Punctuation marks are counted in the result. */
function writeOutEmoji(text: string): string {
  // The lexicon has no emoji below U+0080.
  if (!/[\x80-\uffff]/.test(text)) return text;
  let written = '';
  let isAfterSpace = true;
  for (const character of text) {
    const description = EMOJI.get(character);
    if (description !== undefined && !isAfterSpace) written += ' ';
    written += description ?? character;
    isAfterSpace = character === ' ';
  }
  return written;
}

/** Splits a text into words after its emoji have been replaced with words. */
function splitWords(text: string): VaderWords {
  const spaced = text.split(SPACES).filter((word) => word !== '');
  const words = spaced.map(stripPunctuation);
  const isCapitals = words.map(isUpper);
  const capitals = isCapitals.reduce((count, is) => count + Number(is), 0);
  return {
    lower: words.map((word) => word.toLowerCase()),
    isCapitals,
    hasEmphasis: capitals > 0 && capitals < words.length,
  };
}

/**
 * Removes punctuation around a word. If at most two characters would remain, returns the word unchanged, because it is
 * probably an emoticon.
 */
function stripPunctuation(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && PUNCTUATION.test(word.charAt(start))) start++;
  while (end > start && PUNCTUATION.test(word.charAt(end - 1))) end--;
  const stripped = word.slice(start, end);
  return /^.{3}/su.test(stripped) ? stripped : word;
}

/** Matches ASCII punctuation. */
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** Returns whether a word has capital letters and no lower-case letters. */
function isUpper(word: string): boolean {
  // Most words contain a lower-case ASCII letter, so the slower Unicode expressions are rarely needed.
  if (/[a-z]/.test(word)) return false;
  return /\p{Uppercase}/u.test(word) && !/[\p{Lowercase}\p{Lt}]/u.test(word);
}

/** The mean rating of each word of the lexicon, in lower case, in [-4, 4]. */
const RATINGS = new Map(
  VADER_LEXICON.flatMap((line) => {
    const [rating, ...words] = line.split(' ');
    return words.map((word): [string, number] => [word, Number(rating)]);
  }),
);

/** The factors for the strength of a booster that is one, two or three words before the rated word. */
const DISTANCE_DAMPING = [1, 0.95, 0.9] as const;

/** Returns the rating of every word in its context; 0 for a word without a rating. */
function rateWords(words: VaderWords): number[] {
  const ratings = words.lower.map((_, index) => (isModifier(words.lower, index) ? 0 : rateWord(words, index)));
  weighAroundBut(words.lower, ratings);
  return ratings;
}

/** Returns whether a word modifies other words. A modifier has no rating, even if the lexicon contains one. */
function isModifier(lower: readonly string[], index: number): boolean {
  const word = lower[index] as string;
  return STRENGTHS.has(word) || (word === 'kind' && lower[index + 1] === 'of');
}

function rateWord(words: VaderWords, index: number): number {
  const { lower, isCapitals, hasEmphasis } = words;
  const base = RATINGS.get(lower[index] as string);
  if (base === undefined) return 0;
  let rating = rateAroundNo(lower, index, base);
  if (isCapitals[index] === true && hasEmphasis) rating += rating > 0 ? CAPITALS : -CAPITALS;
  for (let distance = 1; distance <= 3 && distance <= index; distance++) {
    const before = lower[index - distance] as string;
    if (RATINGS.get(before) !== undefined) continue;
    rating += strengthBefore(words, index - distance, rating) * (DISTANCE_DAMPING[distance - 1] as number);
    rating *= negationFactor(lower, index, distance);
    if (distance === 3) rating = rateIdioms(lower, index, rating);
  }
  return rating * minFactor(lower, index);
}

/** Applies the rules for "no". If a rated word follows, "no" has no rating itself, but negates the rated word. */
function rateAroundNo(lower: readonly string[], index: number, base: number): number {
  const next = lower[index + 1];
  const isNegated =
    lower[index - 1] === 'no' ||
    lower[index - 2] === 'no' ||
    (lower[index - 3] === 'no' && (lower[index - 1] === 'or' || lower[index - 1] === 'nor'));
  if (isNegated) return base * NEGATION;
  return lower[index] === 'no' && next !== undefined && RATINGS.get(next) !== undefined ? 0 : base;
}

/**
 * Returns the change of a rating that a booster or a dampener causes: a booster makes the rating more extreme, and a
 * dampener makes it less extreme. Capitals increase both effects.
 */
function strengthBefore({ lower, isCapitals, hasEmphasis }: VaderWords, index: number, rating: number): number {
  const strength = STRENGTHS.get(lower[index] as string);
  if (strength === undefined) return 0;
  const signed = rating < 0 ? -strength : strength;
  if (isCapitals[index] !== true || !hasEmphasis) return signed;
  return signed + (rating > 0 ? CAPITALS : -CAPITALS);
}

/**
 * Returns the factor with which a preceding word, at a given distance, multiplies the rating of a word. At distance
 * three, "so" or "this" directly before the rated word always strengthens the rating. This behaviour follows the
 * precedence of "and" and "or" in the reference implementation, because the published ratings depend on that
 * precedence.
 */
function negationFactor(lower: readonly string[], index: number, distance: number): number {
  const word = lower[index - distance] as string;
  const isSo = (at: number): boolean => lower[at] === 'so' || lower[at] === 'this';
  if (distance === 2) {
    if (word === 'never' && isSo(index - 1)) return 1.25;
    if (word === 'without' && lower[index - 1] === 'doubt') return 1;
  }
  if (distance === 3) {
    if ((word === 'never' && isSo(index - 2)) || isSo(index - 1)) return 1.25;
    if (word === 'without' && (lower[index - 2] === 'doubt' || lower[index - 1] === 'doubt')) return 1;
  }
  return negates(word) ? NEGATION : 1;
}

/**
 * Replaces the rating of a word with the rating of the last known phrase that contains the word or directly precedes
 * it. Pairs such as "kind of" dampen the rating.
 */
function rateIdioms(lower: readonly string[], index: number, rating: number): number {
  const phrase = (from: number, to: number): string => lower.slice(index + from, index + to + 1).join(' ');
  const behind = [phrase(-1, 0), phrase(-2, 0), phrase(-2, -1), phrase(-3, -1), phrase(-3, -2)];
  let idiom = behind.map((words) => PHRASES.get(words)).find((found) => found !== undefined);
  if (index + 1 < lower.length) idiom = PHRASES.get(phrase(0, 1)) ?? idiom;
  if (index + 2 < lower.length) idiom = PHRASES.get(phrase(0, 2)) ?? idiom;
  const modifiers = [phrase(-3, -1), phrase(-3, -2), phrase(-2, -1)];
  return modifiers.reduce((sum, pair) => sum + (STRENGTHS.get(pair) ?? 0), idiom ?? rating);
}

/** Negates a rating after "least". Does not negate it after "at least" or "very least". */
function minFactor(lower: readonly string[], index: number): number {
  if (lower[index - 1] !== 'least' || RATINGS.get('least') !== undefined) return 1;
  const before = lower[index - 2];
  return before === 'at' || before === 'very' ? 1 : NEGATION;
}

/**
 * Halves the ratings before the first "but" and multiplies the ratings after it by 1.5. As in the reference
 * implementation, each rating is looked up by its value, so it is found at its first occurrence. If several ratings are
 * equal, only the first one changes, possibly more than once.
 */
function weighAroundBut(lower: readonly string[], ratings: number[]): void {
  const but = lower.indexOf('but');
  if (but < 0) return;
  for (const rating of ratings) {
    const first = ratings.indexOf(rating);
    if (first < but) ratings[first] = rating * 0.5;
    else if (first > but) ratings[first] = rating * 1.5;
  }
}

/** The sentiment scores of a text. */
export interface VaderScores {
  /** The negative share of the text, in [0, 1], to three decimals. */
  readonly neg: number;
  /** The neutral share of the text, in [0, 1], to three decimals. */
  readonly neu: number;
  /** The positive share of the text, in [0, 1], to three decimals. */
  readonly pos: number;
  /** The combined score, from -1 (negative) to 1 (positive), to four decimals. */
  readonly compound: number;
}

const NO_WORDS: VaderScores = Object.freeze({ neg: 0, neu: 0, pos: 0, compound: 0 });

/**
 * Computes the sentiment of an English text with VADER: a lexicon with human ratings, and rules for negation, boosters,
 * capitals, exclamation marks, "but" and emoji.
 *
 * `compound` is s / sqrt(s^2 + 15). Here, s is the sum of the words' ratings in their context, plus the emphasis of
 * punctuation, which has the sign of the sum. `pos`, `neg` and `neu` are shares of the text: a rated word has the
 * weight |rating| + 1, and every other word has the weight 1. The three shares add up to one except for rounding, which
 * is half to even.
 *
 * Degenerate cases: a text without words gives four zeros. Limits: the scores for text in another language are neutral
 * or wrong, and irony is not recognized. The computation time is linear in the length of the text. If the text contains
 * "but", the time is at worst quadratic in the number of words.
 *
 * The results are those of vaderSentiment 3.3.2 in Python, including its peculiarities, with the same lexicon (MIT
 * License, C.J. Hutto).
 * @see C. Hutto, E. Gilbert, VADER: A parsimonious rule-based model for sentiment analysis of social media text (2014)
 * @example
 * ```ts
 * import { vaderScores } from 'evenhand/llm-evals';
 *
 * console.log(vaderScores('The plot was good, but the dialog is not great.'));
 * // { neg: 0.309, neu: 0.556, pos: 0.136, compound: -0.5409 }
 * ```
 */
export function vaderScores(text: string): VaderScores {
  const written = writeOutEmoji(text);
  const ratings = rateWords(splitWords(written));
  return ratings.length === 0 ? NO_WORDS : combine(ratings, emphasisOfMarks(written));
}

/** Returns the emphasis of up to four exclamation marks. Two or more question marks also add emphasis. */
function emphasisOfMarks(text: string): number {
  const questions = countOf('?', text);
  const questionEmphasis = questions > 3 ? 0.96 : questions > 1 ? questions * 0.18 : 0;
  return Math.min(countOf('!', text), 4) * 0.292 + questionEmphasis;
}

function countOf(mark: string, text: string): number {
  return text.split(mark).length - 1;
}

function combine(ratings: readonly number[], emphasis: number): VaderScores {
  const sum = ratings.reduce((total, rating) => total + rating, 0);
  const shares = sift(ratings);
  const positive = shares.positive + (shares.positive > shares.negative ? emphasis : 0);
  const negative = shares.negative + (shares.negative > shares.positive ? emphasis : 0);
  const { neutral } = shares;
  const total = positive + negative + neutral;
  return Object.freeze({
    neg: roundHalfEven(negative / total, 3),
    neu: roundHalfEven(neutral / total, 3),
    pos: roundHalfEven(positive / total, 3),
    compound: roundHalfEven(normalise(sum + Math.sign(sum) * emphasis), 4),
  });
}

/**
 * Adds up the weights of positive, negative and neutral words. A word without a rating has weight 1. The weight of a
 * rated word is its absolute rating plus 1.
 */
function sift(ratings: readonly number[]): { positive: number; negative: number; neutral: number } {
  let positive = 0;
  let negative = 0;
  let neutral = 0;
  for (const rating of ratings) {
    if (rating > 0) positive += rating + 1;
    else if (rating < 0) negative += 1 - rating;
    else neutral++;
  }
  return { positive, negative, neutral };
}

/**
 * Scales a sum to (-1, 1). The constant 15 comes from the reference implementation, where it approximates the largest
 * expected sum.
 */
function normalise(sum: number): number {
  return sum / Math.sqrt(sum * sum + 15);
}

/**
 * Rounds to a number of decimals. Exact halves are rounded to the even digit, like in Python's `round`. JavaScript's
 * `toFixed` rounds exact halves up.
 *
 * An exact half at d decimals is (2m + 1) / (2 10^d) with an integer m. A double has this value only if it is an odd
 * multiple of 2^-(d + 1). The function tests this condition.
 * @param decimals from 0 to 15
 */
export function roundHalfEven(value: number, decimals: number): number {
  const isHalf = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  if (!isHalf) return Number(value.toFixed(decimals)) + 0;
  const scale = 10 ** decimals;
  const below = Math.floor(value * scale);
  return (below % 2 === 0 ? below : below + 1) / scale;
}
