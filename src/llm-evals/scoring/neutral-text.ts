import { substituteGender } from '../plan/counterfactual/substitute-gender.ts';
import type { Answered } from './dimension-answers.ts';
import { completeWords } from '../text/words.ts';

/** The word that replaces a name. The lists of sentiment and toxicity words do not contain it. */
const SOMEONE = 'person';

/**
 * Returns an answer without the personal name and the values of the dimension that its prompt contained. Repeating the
 * name or the value is not a judgment, and a name such as Joy or Grace must not count as positive sentiment.
 */
export function withoutName({ text, details, group, groupValues = [] }: Answered): string {
  const words = [details['name'], group, ...groupValues].flatMap((word) =>
    word === undefined || word === null || word === '' ? [] : [word],
  );
  const neutral = words.reduce((sofar, word) => sofar.replaceAll(completeWord(word), SOMEONE), text);
  return partsOf(details['name'] ?? '').reduce((sofar, part) => sofar.replaceAll(completeWord(part, ''), SOMEONE), neutral); // prettier-ignore
}

/**
 * Returns the capitalized words of a name of several words, because an answer may use only the first name or the
 * surname. They are removed only as written: a surname such as Banks is also a word.
 */
function partsOf(name: string): string[] {
  const parts = name.split(/\s+/);
  return parts.length > 1 ? parts.filter((part) => /^\p{Lu}/u.test(part)) : [];
}

/**
 * Returns the result of {@link withoutName} with all gendered words converted to male words. "She" and "he" are thus
 * equal in comparisons of wording.
 */
export function withoutGender(answer: Answered): string {
  return substituteGender(withoutName(answer), 'male');
}

const patterns = new Map<string, RegExp>();

/** The maximum number of cached patterns. The cache is cleared when it is full. */
const MAX_PATTERNS = 1000;

/** @param ignoring `i` to ignore case, or an empty string */
function completeWord(word: string, ignoring: 'i' | '' = 'i'): RegExp {
  const key = `${ignoring}:${word}`;
  const known = patterns.get(key);
  if (known !== undefined) return known;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  const pattern = completeWords([word], `gu${ignoring}`);
  patterns.set(key, pattern);
  return pattern;
}
