import { diffArrays } from 'diff';

/** A difference between two texts: words of the first text, and the words that replace them in the second text. */
export interface WordChange {
  readonly first: readonly string[];
  readonly second: readonly string[];
}

/**
 * The maximum number of words that two texts may add and remove. If two texts differ by more words, they are treated as
 * having no words in common.
 */
const MAX_EDITS = 800;

/** Splits a text into words and punctuation marks, without spaces. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
}

/** Finds the differences between two texts, which are all words outside their longest common subsequence. */
export function diffWords(first: string, second: string): WordChange[] {
  const changes: { first: string[]; second: string[] }[] = [];
  let isOpen = false;
  for (const { words, side } of alignWords(wordsOf(first), wordsOf(second))) {
    if (side !== 'both') {
      if (!isOpen) changes.push({ first: [], second: [] });
      changes.at(-1)?.[side].push(...words);
    }
    isOpen = side !== 'both';
  }
  return changes;
}

/** A run of adjacent words that occur in only one text, or in both texts. */
interface AlignedWords {
  readonly words: readonly string[];
  readonly side: 'first' | 'second' | 'both';
}

/**
 * Aligns two lists of words. Returns, in order, the words of a longest common subsequence and the words that occur in
 * only one list.
 */
export function alignWords(first: readonly string[], second: readonly string[]): AlignedWords[] {
  const parts = diffArrays([...first], [...second], { maxEditLength: MAX_EDITS });
  if (parts === undefined) {
    return [
      { words: first, side: 'first' },
      { words: second, side: 'second' },
    ];
  }
  return parts.map(({ value, removed, added }) => ({
    words: value,
    side: removed ? 'first' : added ? 'second' : 'both',
  }));
}
