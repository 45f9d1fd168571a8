/** Words of one text that replace words of the other. */
export interface WordChange {
  readonly first: readonly string[];
  readonly second: readonly string[];
}

/** The maximum number of table cells. Texts with larger differences count as completely changed. */
const MAX_CELLS = 4_000_000;

/** Splits a text into words and marks, without spaces. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
}

/**
 * Finds the differences of two texts, word by word: the changes around a longest common subsequence. Time and memory
 * grow with the product of the numbers of words between the first and the last difference.
 */
export function diffWords(first: string, second: string): WordChange[] {
  const [a, b] = [wordsOf(first), wordsOf(second)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return changesBetween(a.slice(start, a.length - end), b.slice(start, b.length - end));
}

function changesBetween(a: readonly string[], b: readonly string[]): WordChange[] {
  if (a.length === 0 && b.length === 0) return [];
  if (a.length * b.length > MAX_CELLS) return [{ first: a, second: b }];
  const common = commonLengths(a, b);
  const width = b.length + 1;
  const changes: { first: string[]; second: string[] }[] = [];
  let open: { first: string[]; second: string[] } | undefined;
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      open = undefined;
      [i, j] = [i + 1, j + 1];
      continue;
    }
    if (open === undefined) changes.push((open = { first: [], second: [] }));
    const isFirst =
      j === b.length || (i < a.length && at(common, (i + 1) * width + j) >= at(common, i * width + j + 1));
    if (isFirst) open.first.push(a[i++] as string);
    else open.second.push(b[j++] as string);
  }
  return changes;
}

function at(table: Int32Array, index: number): number {
  return table[index] as number;
}

/** Computes the length of the longest common subsequence after each pair of positions. */
export function commonLengths(a: readonly string[], b: readonly string[]): Int32Array {
  const width = b.length + 1;
  const lengths = new Int32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = i * width + j;
      lengths[here] =
        a[i] === b[j] ? at(lengths, here + width + 1) + 1 : Math.max(at(lengths, here + width), at(lengths, here + 1));
    }
  }
  return lengths;
}
