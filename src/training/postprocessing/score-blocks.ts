import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import type { PooledRows } from './pool-violators.ts';
import { cellTables, readTogether, segmentSums, type Tf } from '../../tensor/index.ts';

/** Rows of scores on the device. */
export interface ScoreColumns {
  /** The scores, [rows] float32, finite. */
  readonly scores: Tensor1D;
  /** The labels, [rows] float32, 0 or 1. */
  readonly y: Tensor1D;
  /** The weights, [rows] float32, 0 or more; undefined if every weight is 1. */
  readonly weights: Tensor1D | undefined;
  /** The largest weight. */
  readonly largestWeight: number;
  /** The group of each row, [rows] float32, from 0 to `groups`. Rows with the code `groups` are excluded. */
  readonly codes: Tensor1D;
  readonly groups: number;
}

/** Neighbouring distinct scores of one group. */
export interface ScoreBlock extends PooledRows {
  readonly group: number;
}

/** The largest number of rows whose positions float32 can represent. */
const MAX_ROWS = 2 ** 24;

/** @throws {DataValidationError} if there are more rows than float32 can number */
function assertNumbered(rows: number): void {
  if (rows <= MAX_ROWS) return;
  throw new DataValidationError(
    `There are ${String(rows)} scores on the device, but at most ${String(MAX_ROWS)} can be sorted there.`,
    {
      code: 'data-too-large',
      context: { argument: 'scores', rows, largest: MAX_ROWS },
      suggestion: 'Give an array (await scores.data()), or fit on a sample of the rows.',
    },
  );
}

/** The largest float32, as the key of excluded rows. */
const LAST = (2 - 2 ** -23) * 2 ** 127;

/**
 * Sorts rows on the device by group, then by rising score. Excluded rows come last. The order of equal scores does not matter, but the second sort must keep
 * the order of the first one, as `topk` does for equal keys.
 */
export function sortScores(tf: Tf, keep: Keep, rows: ScoreColumns): ScoreColumns {
  const { scores, y, weights, codes, groups } = rows;
  assertNumbered(scores.size);
  const sorted = tf.tidy(() => {
    const isExcluded = codes.equal(groups);
    const byScore = risingOrder(tf, tf.where(isExcluded, tf.fill(scores.shape, LAST), scores));
    const order = groups === 1 ? byScore : tf.gather(byScore, risingOrder(tf, tf.gather(codes, byScore)));
    const pick = (tensor: Tensor1D): Tensor1D => tf.gather(tensor, order);
    return {
      scores: pick(scores),
      y: pick(y),
      codes: pick(codes),
      ...(weights === undefined ? {} : { weights: pick(weights) }),
    };
  });
  Object.values(sorted).forEach(keep);
  return { ...rows, ...sorted };
}

/** Returns the rows of all groups as one group. */
export function asOneGroup(tf: Tf, keep: Keep, rows: ScoreColumns): ScoreColumns {
  const codes = keep(tf.tidy(() => rows.codes.equal(rows.groups).cast<Tensor1D>('float32')));
  return { ...rows, codes, groups: 1 };
}

function risingOrder(tf: Tf, keys: Tensor1D): Tensor1D {
  return tf.topk(keys.neg<Tensor1D>(), keys.size).indices;
}

/**
 * The rounds of pooling after which the number of blocks is read, so that later rounds are shorter. The number of reads
 * does not depend on the number of rows.
 */
const ROUNDS = [0, 1, 1, 2, 4, 8, 16, 32];

/**
 * The blocks of a round: the index of each block's first row in sorted order (float32), its group, its weight, and the
 * weight of the rows with the label whose rate must rise with the score. Blocks beyond the last one have weight 0.
 */
type Blocks = Readonly<Record<'first' | 'codes' | 'weight' | 'yes', Tensor1D>>;

/** Pooled blocks, and the index of the block to which each earlier block belongs, int32. */
type PooledBlocks = Blocks & Readonly<Record<'blockOf', Tensor1D>>;

/**
 * Pools neighbouring scores of each group on the device until the rate of a label rises with the score: isotonic
 * regression with the pool adjacent violators algorithm (Ayer et al. 1955). In each round, every run of blocks whose
 * rates do not rise is pooled at once; all these blocks have the same rate in the result. For the label 1, the ends of
 * the blocks are the corners of the convex hull of the ROC curve (Fawcett and Niculescu-Mizil 2007).
 *
 * Rates are compared in float32, so neighbouring blocks whose rates differ by less than 1e-6 may be pooled. The sums of
 * the blocks are then computed exactly. After the last round, rates may still fall between blocks: pool the result again
 * on the host. The function reads the blocks, and the number of blocks after each series of rounds.
 * @param label the label whose rate must rise with the score
 * @returns the blocks, by group and rising score
 */
export async function poolScores(tf: Tf, sorted: ScoreColumns, label: 0 | 1): Promise<ScoreBlock[]> {
  const stages: Tensor1D[] = [];
  let blocks = tf.tidy(() => singleRows(tf, sorted, label));
  try {
    for (const rounds of ROUNDS) {
      const given = blocks;
      const long = tf.tidy(() => poolRounds(tf, sorted, given, rounds));
      tf.dispose(given);
      blocks = long;
      const count = await countBlocks(tf, long);
      const { blockOf, ...short } = tf.tidy(() => shorten(tf, long, count));
      tf.dispose(long);
      blocks = short;
      stages.push(blockOf);
    }
    return await readBlocks(tf, sorted, blocks, stages);
  } finally {
    tf.dispose([blocks, stages]);
  }
}

function singleRows(tf: Tf, { y, weights, codes, groups }: ScoreColumns, label: 0 | 1): Blocks {
  const isKept = codes.less(groups).cast<Tensor1D>('float32');
  const weight = weights === undefined ? isKept : weights.mul<Tensor1D>(isKept);
  const isLabel = label === 1 ? y : tf.sub<Tensor1D>(1, y);
  return { first: tf.range(0, y.size), codes: codes.clone(), weight, yes: weight.mul(isLabel) };
}

/**
 * Pools blocks in a number of rounds; with 0 rounds, pools rows with equal scores.
 * @returns the blocks, in tensors of unchanged size, and the new block of each given block
 */
function poolRounds(tf: Tf, sorted: ScoreColumns, blocks: Blocks, rounds: number): PooledBlocks {
  const joins = rounds === 0 ? equalScores(tf, sorted) : Array<Join>(rounds).fill((given) => falls(tf, given));
  let done: PooledBlocks | undefined;
  for (const join of joins) {
    const given = done ?? blocks;
    const next: PooledBlocks = poolRuns(tf, given, join(given));
    done = done === undefined ? next : { ...next, blockOf: tf.gather(next.blockOf, done.blockOf) };
  }
  return done as PooledBlocks;
}

/** Returns whether each block is joined to the block before it, bool. */
type Join = (blocks: Blocks) => Tensor1D;

/** The number of weights that are added one after the other in float32. */
const MAX_TERMS = 256;

/**
 * Joins blocks with equal scores. Counts are exact in any order, but long float32 sums of weights lose digits. Weights
 * are therefore first summed in short spans.
 */
function equalScores(tf: Tf, { scores, weights }: ScoreColumns): Join[] {
  const areEqual = (own: Tensor1D): Tensor1D => comparedToPrevious(tf, own, (value, previous) => value.equal(previous));
  const inSpans = (own: Tensor1D): Tensor1D => {
    const isInside = tf.range(0, own.size).mod<Tensor1D>(MAX_TERMS).greater<Tensor1D>(0);
    return tf.logicalAnd(areEqual(own), isInside);
  };
  const scoresOf = ({ first }: Blocks): Tensor1D => tf.gather(scores, first.cast<Tensor1D>('int32'));
  // At first, every row is a block.
  if (weights === undefined) return [() => areEqual(scores)];
  return [() => inSpans(scores), (blocks) => inSpans(scoresOf(blocks)), (blocks) => areEqual(scoresOf(blocks))];
}

/** Returns whether the rate of each block is at most the rate of the block before it, bool. */
function falls(tf: Tf, { weight, yes }: Blocks): Tensor1D {
  const isFilled = weight.greater<Tensor1D>(0);
  const rate = yes.div<Tensor1D>(tf.where(isFilled, weight, tf.onesLike(weight)));
  const isFalling = comparedToPrevious(tf, rate, (value, previous) => value.lessEqual(previous));
  return tf.logicalAnd(isFalling, isFilled);
}

/** Compares each value with the one before it. The first value compares as false. */
function comparedToPrevious(
  tf: Tf,
  values: Tensor1D,
  compare: (value: Tensor1D, previous: Tensor1D) => Tensor1D,
): Tensor1D {
  const { size } = values;
  const none = tf.zeros([1], 'bool') as unknown as Tensor1D;
  return size < 2 ? none : tf.concat([none, compare(values.slice(1), values.slice(0, size - 1))]);
}

/** Pools each run of blocks of one group in which every block is joined to the block before it. */
function poolRuns(tf: Tf, { first, codes, weight, yes }: Blocks, isJoined: Tensor1D): PooledBlocks {
  const isSameGroup = comparedToPrevious(tf, codes, (code, previous) => code.equal(previous));
  const isStart = tf.logicalNot(tf.logicalAnd(isJoined, isSameGroup)).cast<Tensor1D>('int32');
  const blockOf = tf.cumsum<Tensor1D>(isStart).sub<Tensor1D>(tf.scalar(1, 'int32'));
  const starts = isStart.cast<Tensor1D>('float32');
  const sum = (values: Tensor1D): Tensor1D => segmentSums(tf, blockOf, blockOf.size, values);
  return {
    first: sum(first.mul<Tensor1D>(starts)),
    codes: sum(codes.mul<Tensor1D>(starts)),
    weight: sum(weight),
    yes: sum(yes),
    blockOf,
  };
}

/** Shortens tensors to the blocks that have rows. Blocks without rows are treated as the last block. */
function shorten(tf: Tf, { first, codes, weight, yes, blockOf }: PooledBlocks, count: number): PooledBlocks {
  const short = (values: Tensor1D): Tensor1D => values.slice(0, count).clone();
  return {
    first: short(first),
    codes: short(codes),
    weight: short(weight),
    yes: short(yes),
    blockOf: blockOf.minimum(tf.scalar(count - 1, 'int32')),
  };
}

async function countBlocks(tf: Tf, { weight }: Blocks): Promise<number> {
  const count = tf.tidy(() => weight.greater(0).cast('int32').sum());
  try {
    return (await count.data())[0] as number;
  } finally {
    count.dispose();
  }
}

/** Reads the blocks, with the exact sums of their rows. */
async function readBlocks(
  tf: Tf,
  { scores, y, weights, largestWeight, codes, groups }: ScoreColumns,
  blocks: Blocks,
  stages: readonly Tensor1D[],
): Promise<ScoreBlock[]> {
  const count = blocks.first.size;
  const cells = 2 * count;
  const cellOf = tf.tidy(() => {
    const blockOf = stages.reduceRight((of, stage) => tf.gather(of, stage)).cast<Tensor1D>('float32');
    const cell = blockOf.mul<Tensor1D>(2).add<Tensor1D>(y);
    return tf.where<Tensor1D>(codes.less(groups), cell, tf.fill(cell.shape, cells)).cast<Tensor1D>('int32');
  });
  try {
    const { counts, sums } = await cellTables(
      tf,
      { rows: y.size, cells, codesOf: (slice) => slice(cellOf) },
      weights === undefined ? [] : [{ valuesOf: (slice) => slice(weights), largest: largestWeight }],
    );
    const [sum = counts] = sums;
    const lengths = Float64Array.from(
      { length: count },
      (_, index) => (counts[2 * index] as number) + (counts[2 * index + 1] as number),
    );
    const ends = tf.tidy(() => {
      const toLast = tf.tensor1d(Float32Array.from(lengths, (length) => length - 1));
      const at = (row: Tensor1D): Tensor1D => tf.gather(scores, row.cast<Tensor1D>('int32'));
      return [at(blocks.first), at(blocks.first.add<Tensor1D>(toLast)), blocks.codes.clone()];
    });
    const [low, high, group] = (await readTogether(tf, ends).finally(() => {
      tf.dispose(ends);
    })) as [Float32Array, Float32Array, Float32Array];
    return Array.from({ length: count }, (_, index) => ({
      group: group[index] as number,
      low: low[index] as number,
      high: high[index] as number,
      no: sum[2 * index] as number,
      yes: sum[2 * index + 1] as number,
    }));
  } finally {
    cellOf.dispose();
  }
}
