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
  return changesOf(alignWords(wordsOf(first), wordsOf(second)));
}

/** Returns the differences of an alignment. */
export function changesOf(runs: readonly AlignedWords[]): WordChange[] {
  const changes: { first: string[]; second: string[] }[] = [];
  let isOpen = false;
  for (const { words, side } of runs) {
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
 * Aligns two lists of the same length word by word. Returns undefined for lists of different lengths. The result may
 * have fewer common words than {@link alignWords}.
 */
export function alignByPosition(first: readonly string[], second: readonly string[]): AlignedWords[] | undefined {
  if (first.length !== second.length) return undefined;
  const runs: { words: string[]; side: AlignedWords['side'] }[] = [];
  first.forEach((word, index) => {
    const other = second[index] ?? '';
    if (word !== other) runs.push({ words: [word], side: 'first' }, { words: [other], side: 'second' });
    else if (runs.at(-1)?.side === 'both') runs.at(-1)?.words.push(word);
    else runs.push({ words: [word], side: 'both' });
  });
  return runs;
}

/**
 * Aligns two lists of words. Returns, in order, the words of a longest common subsequence and the words that occur in
 * only one list.
 */
export function alignWords(first: readonly string[], second: readonly string[]): AlignedWords[] {
  // Most texts differ in a few words. Without their common beginning and end, the search is much shorter.
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start++;
  let end = 0;
  while (end < shorter - start && first.at(-1 - end) === second.at(-1 - end)) end++;
  const runs: AlignedWords[] = [
    { words: first.slice(0, start), side: 'both' },
    ...searchAlignment(first.slice(start, first.length - end), second.slice(start, second.length - end)),
    { words: first.slice(first.length - end), side: 'both' },
  ];
  return runs.filter(({ words }) => words.length > 0);
}

function searchAlignment(first: readonly string[], second: readonly string[]): AlignedWords[] {
  if (first.length === 0 || second.length === 0) return withoutCommon(first, second);
  const parts = diffArrays([...first], [...second], { maxEditLength: MAX_EDITS });
  if (parts === undefined) return withoutCommon(first, second);
  return parts.map(({ value, removed, added }) => ({
    words: value,
    side: removed ? 'first' : added ? 'second' : 'both',
  }));
}

function withoutCommon(first: readonly string[], second: readonly string[]): AlignedWords[] {
  return [
    { words: first, side: 'first' },
    { words: second, side: 'second' },
  ];
}
