import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { stratifiedSplit } from './stratified-split.ts';
import { takeTrainingRows, type TrainingData, type TrainingRows } from './training-data.ts';

/** How rows are parted. */
export interface SplitOptions {
  /** Share of the rows that is trained on, where there are no folds. */
  readonly trainSize: number;
  /** With 2 or more, every row is held out once. */
  readonly folds?: number | undefined;
  readonly seed: number;
}

/** One way to part the rows. */
export interface Split {
  readonly train: TrainingRows;
  readonly test: TrainingRows;
}

/**
 * Parts the rows into what is trained on and what is held out: once, or once per fold.
 * @throws {ValueError} for folds that cannot be made
 */
export function splitRows(training: TrainingData, { folds, trainSize, seed }: SplitOptions): Split[] {
  const { rows, test } = training;
  assertSplittable(training, folds);
  if (test !== undefined) return [{ train: rows, test }];
  const take = (part: Int32Array): TrainingRows => takeTrainingRows(rows, part);
  if (folds === undefined) {
    const [train, held] = stratifiedSplit(strata(rows), [trainSize, 1 - trainSize], seed) as [Int32Array, Int32Array];
    return [{ train: take(train), test: take(held) }];
  }
  const parts = stratifiedSplit(strata(rows), Array<number>(folds).fill(1 / folds), seed);
  return parts.map((part, index) => ({
    test: take(part),
    train: take(Int32Array.from(parts.flatMap((other, place) => (place === index ? [] : [...other]))).sort()),
  }));
}

/** Rows of one target and group are one stratum. */
export function strata({ y, groups }: TrainingRows): Int32Array {
  return groups.codes.map((code, row) => 2 * code + (y[row] as number));
}

function assertSplittable({ rows, test }: TrainingData, folds: number | undefined): void {
  if (folds === undefined) return;
  if (test !== undefined) {
    throw new ValueError('The folds parameter and test rows of their own exclude each other.', {
      context: { parameter: 'folds' },
      suggestion: 'Give one of the two.',
    });
  }
  if (folds > rows.y.length) {
    throw invalidParameter('folds', `be at most the number of rows, ${String(rows.y.length)}`, folds);
  }
}

/** Rows of several held-out parts, one after another. */
export function joinRows(parts: readonly TrainingRows[]): { y: Uint8Array; groups: CategoricalColumn } {
  return {
    y: Uint8Array.from(parts.flatMap(({ y }) => [...y])),
    groups: {
      kind: 'categorical',
      codes: Int32Array.from(parts.flatMap(({ groups }) => [...groups.codes])),
      labels: parts[0]?.groups.labels ?? [],
    },
  };
}

/** The rows of each group. */
function groupSizes({ codes, labels }: CategoricalColumn): Float64Array {
  const sizes = new Float64Array(labels.length);
  for (const code of codes) sizes[code] = (sizes[code] as number) + 1;
  return sizes;
}

/** What mends held-out groups that are too small, where rows can be cross-fitted. */
const CROSS_FIT =
  'Cross-fit, with 5 folds for example, so that every row is held out once, or lower the minimum (minGroupSize).';

/** The rows of each group that has any, by its label. */
export function countGroups({ groups }: { groups: CategoricalColumn }): Record<string, number> {
  const sizes = [...groupSizes(groups)].map((size, group) => [groups.labels[group] ?? '', size] as const);
  return Object.fromEntries(sizes.filter(([, size]) => size > 0));
}

/**
 * Checked before the work: without two groups large enough there will be no gap to show.
 * @throws {DataValidationError} where there are fewer
 */
export function assertComparable(
  parts: readonly TrainingRows[],
  minGroupSize: number,
  suggestion: string = CROSS_FIT,
): void {
  const sizes = groupSizes(joinRows(parts).groups);
  if (sizes.filter((size) => size >= minGroupSize).length >= 2) return;
  throw new DataValidationError(
    `The held-out rows have fewer than two groups of at least ${String(minGroupSize)} rows, so no gap could be measured.`,
    {
      context: { minGroupSize },
      suggestion,
    },
  );
}

/** Groups that only the test rows have, in words. */
export function unseenGroups({ rows, test }: TrainingData, what: 'penalty' | 'constraint' = 'penalty'): string[] {
  const unseen = test?.groups.labels.slice(rows.groups.labels.length) ?? [];
  return unseen.map((label) => `group '${label}' occurs in the test rows only; no ${what} has seen it`);
}

/** Groups too small to be compared, in words. */
export function smallGroups({ groups }: { groups: CategoricalColumn }, minGroupSize: number): string[] {
  return [...groupSizes(groups)].flatMap((size, group) =>
    size >= minGroupSize || size === 0
      ? []
      : [`group '${groups.labels[group] ?? ''}' has ${String(size)} held-out rows and takes no part in the gaps`],
  );
}
