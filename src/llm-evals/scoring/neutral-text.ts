import { substituteGender } from '../plan/counterfactual/substitute-gender.ts';
import type { Answered } from './dimension-answers.ts';

/** The word that replaces a name. The lists of sentiment and toxicity words do not contain it. */
const SOMEONE = 'person';

/**
 * Returns an answer without the personal name and the value of the dimension that its prompt contained. Repeating the
 * name or the value is not a judgment, and a name such as Joy or Grace must not count as positive sentiment.
 */
export function withoutName({ text, details, group }: Answered): string {
  const words = [details['name'], group].flatMap((word) =>
    word === undefined || word === null || word === '' ? [] : [word],
  );
  return words.reduce((sofar, word) => sofar.replaceAll(completeWord(word), SOMEONE), text);
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

function completeWord(word: string): RegExp {
  const known = patterns.get(word);
  if (known !== undefined) return known;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu');
  patterns.set(word, pattern);
  return pattern;
}
