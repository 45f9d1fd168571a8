import { substituteGender } from '../plan/counterfactual/substitute-gender.ts';
import type { Answered } from './dimension-answers.ts';

/** What stands for whoever was named; no list of sentiment or toxicity has it. */
const SOMEONE = 'person';

/**
 * An answer without the name and the value that its prompt had: a model that
 * writes them back has not judged anyone, and a name like Joy or Grace has no
 * sentiment of its own.
 */
export function withoutName({ text, details, group }: Answered): string {
  const words = [details['name'], group].flatMap((word) =>
    word === undefined || word === null || word === '' ? [] : [word],
  );
  return words.reduce((sofar, word) => sofar.replaceAll(wholeWord(word), SOMEONE), text);
}

/** The same with one gender's words throughout, so that "she" is as good as "he" where wordings are compared. */
export function withoutGender(answer: Answered): string {
  return substituteGender(withoutName(answer), 'male');
}

const patterns = new Map<string, RegExp>();

/** Patterns that are kept at most; then they are made anew. */
const MAX_PATTERNS = 1000;

function wholeWord(word: string): RegExp {
  const known = patterns.get(word);
  if (known !== undefined) return known;
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu');
  patterns.set(word, pattern);
  return pattern;
}
