import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { takeTrainingRows, type TrainingData, type TrainingRows } from './training-data.ts';

/** Options of {@link splitRows}. */
interface SplitOptions {
  /** The share of the rows used for training. This share is ignored if `folds` is set. */
  readonly trainSize: number;
  /** The number of folds, 2 or more. If `folds` is set, every row is held out once. */
  readonly folds?: number | undefined;
  readonly seed: number;
}

/** A split into training rows and test rows. */
export interface Split {
  readonly train: TrainingRows;
  readonly test: TrainingRows;
}

/**
 * Splits the rows into training rows and held-out rows: once, or once per fold.
 * @throws {ValueError} if there are more folds than rows, or if both folds and test rows are given
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
    train: take(Int32Array.from(parts.flatMap((other, position) => (position === index ? [] : [...other]))).sort()),
  }));
}

/** Returns the stratum of each row: its target and group. */
export function strata({ y, groups }: TrainingRows): Int32Array {
  return groups.codes.map((code, row) => 2 * code + (y[row] as number));
}

function assertSplittable({ rows, test }: TrainingData, folds: number | undefined): void {
  if (folds === undefined) return;
  if (test !== undefined) {
    throw new ValueError('The folds parameter cannot be combined with separate test rows.', {
      context: { parameter: 'folds' },
      suggestion: 'Pass either folds or test rows.',
    });
  }
  if (folds > rows.y.length) {
    throw invalidParameter('folds', `be at most the number of rows, ${String(rows.y.length)}`, folds);
  }
}

/** Joins the targets and groups of several held-out parts. */
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

/** Returns the number of rows of each group. */
function groupSizes({ codes, labels }: CategoricalColumn): Float64Array {
  const sizes = new Float64Array(labels.length);
  for (const code of codes) sizes[code] = (sizes[code] as number) + 1;
  return sizes;
}

/** The default suggestion if held-out groups are too small. It applies if cross-fitting is possible. */
const CROSS_FIT =
  'Cross-fit, with 5 folds for example, so that every row is held out once, or lower the minimum (minGroupSize).';

/** Returns the number of rows by group label, without empty groups. */
export function countGroups({ groups }: { groups: CategoricalColumn }): Record<string, number> {
  const sizes = [...groupSizes(groups)].map((size, group) => [groups.labels[group] ?? '', size] as const);
  return Object.fromEntries(sizes.filter(([, size]) => size > 0));
}

/**
 * Checks, before training, that at least two groups are large enough to measure a gap.
 * @throws {DataValidationError} if there are fewer than two such groups
 */
export function assertComparable(
  parts: readonly TrainingRows[],
  minGroupSize: number,
  suggestion: string = CROSS_FIT,
): void {
  assertComparableSizes(groupSizes(joinRows(parts).groups), minGroupSize, suggestion);
}

/**
 * Checks, before training, that at least two groups are large enough to measure a gap.
 * @param sizes the number of held-out rows of each group
 * @throws {DataValidationError} if there are fewer than two such groups
 */
export function assertComparableSizes(sizes: Float64Array, minGroupSize: number, suggestion: string): void {
  if (sizes.filter((size) => size >= minGroupSize).length >= 2) return;
  throw new DataValidationError(
    `The held-out rows have fewer than two groups of at least ${String(minGroupSize)} rows, so no gap could be measured.`,
    { code: 'too-few-groups', context: { minGroupSize }, suggestion },
  );
}

/** Returns a warning for each group that occurs only in the test rows. */
export function unseenGroups({ rows, test }: TrainingData, what: 'penalty' | 'constraint' = 'penalty'): string[] {
  return unseenWarnings(test?.groups.labels.slice(rows.groups.labels.length) ?? [], what);
}

/** Returns a warning for each label of a group that occurs only in the test rows. */
export function unseenWarnings(labels: readonly string[], what: 'penalty' | 'constraint'): string[] {
  return labels.map((label) => `group '${label}' occurs only in the test rows, so the ${what} does not cover it`);
}

/** Returns a warning for each group that is too small to be compared. */
export function smallGroups({ groups }: { groups: CategoricalColumn }, minGroupSize: number): string[] {
  return smallWarnings(groups.labels, groupSizes(groups), minGroupSize);
}

/** Returns a warning for each group with too few held-out rows to be compared. */
export function smallWarnings(labels: readonly string[], sizes: Float64Array, minGroupSize: number): string[] {
  return [...sizes].flatMap((size, group) =>
    size >= minGroupSize || size === 0
      ? []
      : [`group '${labels[group] ?? ''}' has ${String(size)} held-out rows and is excluded from the gaps`],
  );
}

/**
 * Splits rows into parts, dividing every stratum in the given proportions.
 *
 * Each stratum is shuffled and cut at the cumulative shares. If a part should get a fraction of a row, the fraction is
 * carried over to the next stratum. The total size of each part is therefore correct even if strata are small.
 * @param strata the stratum of each row, 0 or more
 * @param shares the shares of the parts, which sum to 1
 * @returns the rows of each part, ascending
 */
export function stratifiedSplit(strata: ArrayLike<number>, shares: readonly number[], seed: number): Int32Array[] {
  const random = createRandom(seed);
  const parts: number[][] = shares.map(() => []);
  const carried = shares.map(() => 0);
  for (const rows of rowsOfStrata(strata)) {
    shuffle(rows, random);
    let start = 0;
    shares.forEach((share, part) => {
      const isLast = part === shares.length - 1;
      const wanted = share * rows.length + (carried[part] as number);
      const take = isLast ? rows.length - start : Math.max(0, Math.min(rows.length - start, Math.round(wanted)));
      carried[part] = wanted - take;
      for (const row of rows.subarray(start, start + take)) (parts[part] as number[]).push(row);
      start += take;
    });
  }
  return parts.map((part) => Int32Array.from(part).sort());
}

function rowsOfStrata(strata: ArrayLike<number>): Int32Array[] {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < strata.length; row++) {
    const stratum = strata[row] as number;
    const known = rows.get(stratum);
    if (known === undefined) rows.set(stratum, [row]);
    else known.push(row);
  }
  return [...rows].sort(([a], [b]) => a - b).map(([, members]) => Int32Array.from(members));
}

/** The share of the training rows that is used for early stopping. */
const VALIDATION_SHARE = 0.1;

/**
 * Holds out a tenth of the rows of each stratum for early stopping.
 * @param strata the stratum of each row
 * @throws {DataValidationError} if one of the two parts has no rows
 */
export function holdOut(strata: ArrayLike<number>, seed: number): [fitting: Int32Array, validation: Int32Array] {
  const [fitting, validation] = stratifiedSplit(strata, [1 - VALIDATION_SHARE, VALIDATION_SHARE], seed) as [
    Int32Array,
    Int32Array,
  ];
  if (fitting.length > 0 && validation.length > 0) return [fitting, validation];
  throw new DataValidationError(`There are too few rows to train on: ${String(strata.length)}.`, {
    code: 'too-few-rows',
    context: { rows: strata.length },
    suggestion: 'Training, early stopping and testing each need rows; provide at least a few dozen.',
  });
}
