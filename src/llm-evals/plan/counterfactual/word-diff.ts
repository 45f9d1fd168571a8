import { diffArrays } from 'diff';

/** Words of one text, and the words of the other text that replace them. */
export interface WordChange {
  readonly first: readonly string[];
  readonly second: readonly string[];
}

/** The maximum number of words that two texts may add and remove. If they differ more, no word counts as common. */
const MAX_EDITS = 800;

/** Splits a text into words and punctuation marks, without spaces. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
}

/** Finds the differences between two texts: the words that are not in a longest common subsequence of words. */
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
