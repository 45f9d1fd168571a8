import { substituteGender } from '../plan/counterfactual/substitute-gender.ts';
import type { Answered } from './dimension-answers.ts';

/** The replacement of a name. It is in no list of sentiment or toxicity words. */
const SOMEONE = 'person';

/**
 * Returns an answer without the name and the value of its prompt. A model that repeats them has not judged anyone, and
 * a name like Joy or Grace has no sentiment.
 */
export function withoutName({ text, details, group }: Answered): string {
  const words = [details['name'], group].flatMap((word) =>
    word === undefined || word === null || word === '' ? [] : [word],
  );
  return words.reduce((sofar, word) => sofar.replaceAll(completeWord(word), SOMEONE), text);
}

/**
 * Returns the same with the words of one gender throughout, so that "she" and "he" are equal in comparisons of wording.
 */
export function withoutGender(answer: Answered): string {
  return substituteGender(withoutName(answer), 'male');
}

const patterns = new Map<string, RegExp>();

/** The maximum number of cached patterns. The cache is cleared when it is full. */
const MAX_PATTERNS = 1000;

function completeWord(word: string): RegExp {
  const known = patterns.get(word);
  if (known !== undefined) return known;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu');
  patterns.set(word, pattern);
  return pattern;
}
