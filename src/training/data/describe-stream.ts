import { sumOf } from '../../internal/values.ts';
import { assertComparableSizes, smallWarnings, unseenWarnings } from './row-splits.ts';
import type { StreamTraining } from './stream-training.ts';

/** How to make held-out groups large enough. */
const SUGGESTION = 'Hold out more rows (trainSize), give test rows, or lower the minimum (minGroupSize).';

/**
 * Checks, before training, that at least two groups of held-out rows are large enough to measure a gap.
 * @throws {DataValidationError} if there are fewer than two such groups
 */
export function assertComparableStream({ counts }: StreamTraining, minGroupSize: number): void {
  assertComparableSizes(sizesOf(counts.heldOut), minGroupSize, SUGGESTION);
}

/** The description of the rows of a stream. */
interface DescribedStream {
  /** The number of training rows by group. */
  readonly groups: Readonly<Record<string, number>>;
  readonly described: {
    readonly target: string;
    readonly positiveLabel: string | null;
    readonly sensitive: readonly string[];
    readonly naValues: readonly string[] | null;
    readonly nTrain: number;
    readonly nTest: number;
    readonly nDropped: number;
    readonly folds: null;
  };
  readonly warnings: readonly string[];
}

/**
 * Describes the rows of a stream for results and cards.
 * @param what what does not cover groups that occur only in the test rows
 */
export function describeStream(
  training: StreamTraining,
  minGroupSize: number,
  what: 'penalty' | 'constraint',
): DescribedStream {
  const { groupLabels, counts, naValues, target, positiveLabel, sensitive, nDropped } = training;
  const trained = training.train.groupCount;
  const [ofTraining, heldOut] = [sizesOf(counts.train), sizesOf(counts.heldOut)];
  const groups = groupLabels.slice(0, trained).map((label, group) => [label, ofTraining[group] ?? 0] as const);
  return {
    groups: Object.fromEntries(groups),
    described: {
      ...{ target, positiveLabel, sensitive, naValues: naValues ?? null },
      ...{ nTrain: sumOf(ofTraining), nTest: sumOf(heldOut), nDropped, folds: null },
    },
    warnings: [
      ...training.warnings,
      ...unseenWarnings(groupLabels.slice(trained), what),
      ...smallWarnings(groupLabels, heldOut, minGroupSize),
    ],
  };
}

/** Returns the number of rows of each group from those of each group and label. */
function sizesOf(counts: Float64Array): Float64Array {
  return Float64Array.from({ length: counts.length / 2 }, (_, group) =>
    sumOf(counts.subarray(2 * group, 2 * group + 2)),
  );
}
