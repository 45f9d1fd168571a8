import { DataValidationError } from '../../exceptions/index.ts';
import type { CategoricalColumn } from '../../table/index.ts';

/** Scores and their groups, without missing values. */
export interface GroupedScores {
  /** The scores, [rows]. */
  readonly scores: Float64Array;
  readonly groups: CategoricalColumn;
}

/**
 * Returns how many values of an ascending array are at most `value`, which is also the index of the first larger value.
 * Takes O(log n) time.
 */
export function countAtMost(rising: ArrayLike<number>, value: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Collects the rows of each group in the given order, with a counting sort. The result is indexed by group code. */
export function rowsOfGroups({ codes, labels }: CategoricalColumn, order: Iterable<number>): Int32Array[] {
  const filled = new Int32Array(labels.length);
  for (const code of codes) filled[code] = (filled[code] as number) + 1;
  const members = Array.from(filled, (size) => new Int32Array(size));
  filled.fill(0);
  for (const row of order) {
    const code = codes[row] as number;
    const index = filled[code] as number;
    (members[code] as Int32Array)[index] = row;
    filled[code] = index + 1;
  }
  return members;
}

/** @throws {DataValidationError} if the sum of the weights is infinite */
export function assertFiniteTotal(weights: Float64Array): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total < Infinity) return;
  throw new DataValidationError('The sum of the weights in sampleWeight is too large for a float64 number.', {
    code: 'data-too-large',
    context: { argument: 'sampleWeight' },
    suggestion: 'Divide all weights by the largest weight.',
  });
}
