import { VADER_EMOJI } from './vader-emoji.ts';

/** The words of a text for the rules, as parallel arrays. */
export interface VaderWords {
  /** The words in lower case, without surrounding punctuation. */
  readonly lower: readonly string[];
  /** Whether each word is in capitals. */
  readonly isCapitals: readonly boolean[];
  /** Whether some words are in capitals and others are not, so that capitals mean emphasis. */
  readonly hasEmphasis: boolean;
}

/** Matches Python's white space: unlike JavaScript's without U+FEFF, and with four separators and U+0085. */
// eslint-disable-next-line no-control-regex -- the four separators are control characters
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

const EMOJI = new Map(
  VADER_EMOJI.flatMap((line) => line.split('|')).map((entry): [string, string] => {
    const space = entry.indexOf(' ');
    return [entry.slice(0, space), entry.slice(space + 1)];
  }),
);

/** Returns the text with its emoji written as words; punctuation marks are counted in it. */
export function writeOutEmoji(text: string): string {
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

/** Splits a text whose emoji are written as words. */
export function splitWords(text: string): VaderWords {
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

/** Removes punctuation around a word, unless at most two characters remain: then it is likely an emoticon. */
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

/** Returns whether a word has letters with case, and all of them are capitals. */
function isUpper(word: string): boolean {
  // For most words the first lower-case letter decides, so that the slower Unicode expression is rarely needed.
  if (/[a-z]/.test(word)) return false;
  return /\p{Uppercase}/u.test(word) && !/[\p{Lowercase}\p{Lt}]/u.test(word);
}
