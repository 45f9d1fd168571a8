import { oneOf } from '../../../internal/arguments.ts';
import { keepCase, fixArticle } from './article.ts';
import { COUNTERPARTS, type WordGender } from './gender-words.ts';
import { isObjective, isPossessivePronoun, type WordContext } from './possessive-rules.ts';

const GENDERS: readonly WordGender[] = ['female', 'male'];

/** Matches phrases such as "he or she" and "his/her". Such phrases are replaced by one of their two words. */
const EITHER = /(?<![\p{L}\p{N}])(she|hers?|herself|he|him|his|himself)(?:\s+or\s+|\/)(she|hers?|herself|he|him|his|himself)(?![\p{L}\p{N}])/giu; // prettier-ignore

const TITLE = /(?<![\p{L}\p{N}])(Mrs|Mr|Ms|Miss)(\.?)(?=\s+\p{Lu})/gu;

const WORD = /(?<![\p{L}\p{N}])\p{L}+(?:['’]am)?(?![\p{L}\p{N}])/giu;

/**
 * Converts a text's gendered words to one gender. Converts pronouns (her becomes him or his, and his becomes her or
 * hers, depending on the context), titles, kinship words, and words that end in -man and -woman. Preserves case and
 * punctuation, adjusts "a" and "an", and replaces "he or she" by one of the two words.
 *
 * Does not change names, or words whose counterpart differs in more than gender (actor, host). Every person in the text
 * gets the same gender. Therefore, refer to other people by roles without a gender. The rules are based on lists of
 * words, so check the results with {@link describePairs} before you pay for answers.
 * @param to the gender of the words in the result
 * @throws {ValueError} if the gender is neither female nor male
 * @example
 * ```ts
 * import { substituteGender } from 'evenhand/llm-evals';
 *
 * console.log(substituteGender('He told his sister that the desk is his.', 'female'));
 * // She told her sister that the desk is hers.
 * console.log(substituteGender('They told her that they liked her work.', 'male'));
 * // They told him that they liked his work.
 * ```
 */
export function substituteGender(text: string, to: WordGender): string {
  return substitute(text, oneOf('to', to, GENDERS));
}

/** Returns whether a text has words that {@link substituteGender} would replace for one of the two genders. */
export function hasGenderedWords(text: string): boolean {
  return substitute(text, 'female') !== substitute(text, 'male');
}

function substitute(text: string, to: WordGender): string {
  const single = text.replace(EITHER, (both, first: string, second: string) => chosenOf(both, first, second, to));
  return exchangeWords(exchangeTitles(single, to), to);
}

const FEMALE_PRONOUNS = new Set(['she', 'her', 'hers', 'herself']);

function chosenOf(both: string, first: string, second: string, to: WordGender): string {
  const isFemaleFirst = FEMALE_PRONOUNS.has(first.toLowerCase());
  if (isFemaleFirst === FEMALE_PRONOUNS.has(second.toLowerCase())) return both;
  return keepCase(first, isFemaleFirst === (to === 'female') ? first : second);
}

function exchangeTitles(text: string, to: WordGender): string {
  return text.replace(TITLE, (complete, title: string, stop: string) => {
    if ((title === 'Mr') === (to === 'male')) return complete;
    const mark = title === 'Miss' ? '.' : stop;
    return `${to === 'male' ? 'Mr' : 'Ms'}${mark}`;
  });
}

function exchangeWords(text: string, to: WordGender): string {
  let done = '';
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const other = counterpart(word.toLowerCase(), to, () => contextOf(text, index, index + word.length));
    if (other === undefined || isStem(text, index + word.length, word)) continue;
    const written = keepCase(word, other);
    done = `${fixArticle(done + text.slice(end, index), written)}${written}`;
    end = index + word.length;
  }
  return done + text.slice(end);
}

/** Returns whether a word is the first part of a compound such as "man-made". The compound is not about a man. */
function isStem(text: string, end: number, word: string): boolean {
  return /^m[ae]n$/i.test(word) && text[end] === '-';
}

function counterpart(word: string, to: WordGender, context: () => WordContext): string | undefined {
  if (to === 'male') {
    if (word === 'her') return isObjective(context()) ? 'him' : 'his';
    if (word === 'hers') return 'his';
  } else {
    if (word === 'him') return 'her';
    if (word === 'his') return isPossessivePronoun(context()) ? 'hers' : 'her';
  }
  return COUNTERPARTS[to].get(word);
}

function contextOf(text: string, start: number, end: number): WordContext {
  const [, beforePrevious = '', previous = ''] =
    /(?:([\p{L}\p{N}'’-]+)\s+)?([\p{L}\p{N}'’-]+)\s+$/u.exec(text.slice(Math.max(0, start - 60), start)) ?? [];
  // A quotation mark, bracket or currency sign belongs to the next word. Any other mark ends the clause.
  const [, next = '', afterNext = ''] =
    /^\s+["“‘(]?[$€£]?([\p{L}\p{N}'’-]+)(?:\s+([\p{L}\p{N}'’-]+))?/u.exec(text.slice(end, end + 120)) ?? [];
  return {
    beforePrevious: plain(beforePrevious),
    previous: plain(previous),
    next: plain(next),
    afterNext: plain(afterNext),
  };
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('’', "'");
}
