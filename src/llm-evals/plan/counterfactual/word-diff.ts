/** Words of one text that replace words of the other. */
export interface WordChange {
  readonly first: readonly string[];
  readonly second: readonly string[];
}

/** The maximum number of table cells. If the differing parts need more, they count as one change. */
const MAX_CELLS = 4_000_000;

/** Splits a text into words and marks, without spaces. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
}

/**
 * Finds the differences between two texts: the words that are not in a longest common subsequence of words. Time and
 * memory grow with the product of the numbers of words between the first and the last difference.
 */
export function diffWords(first: string, second: string): WordChange[] {
  const [a, b] = [wordsOf(first), wordsOf(second)];
  const common = commonPairs(a, b, (rows, columns) => rows * columns <= MAX_CELLS);
  let [i, j] = [0, 0];
  return [...common, [a.length, b.length] as const].flatMap(([nextI, nextJ]) => {
    const change = { first: a.slice(i, nextI), second: b.slice(j, nextJ) };
    [i, j] = [nextI + 1, nextJ + 1];
    return change.first.length + change.second.length === 0 ? [] : [change];
  });
}

/**
 * Finds the words of a longest common subsequence of two lists.
 * @param isSmall returns whether the parts between the common start and the common end are short enough to compare. If
 * not, the result contains only the common start and the common end
 * @returns the index of each common word in both lists, in order
 */
export function commonPairs(
  a: readonly string[],
  b: readonly string[],
  isSmall: (rows: number, columns: number) => boolean,
): (readonly [first: number, second: number])[] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [rows, columns] = [a.length - end, b.length - end];
  const pairs = Array.from({ length: start }, (_, index) => [index, index] as const);
  if (isSmall(rows - start, columns - start)) {
    const lengthAt = commonLengths(a.slice(start, rows), b.slice(start, columns));
    for (let [i, j] = [start, start]; i < rows && j < columns;) {
      if (a[i] === b[j]) pairs.push([i++, j++]);
      else if (lengthAt(i + 1 - start, j - start) >= lengthAt(i - start, j + 1 - start)) i++;
      else j++;
    }
  }
  return [...pairs, ...Array.from({ length: end }, (_, index) => [rows + index, columns + index] as const)];
}

/** Computes the length of the longest common subsequence after each pair of positions. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const lengths = new Int32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}
