import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { type CellRows, cellTables, type Slice, type Tf, unitOf } from '../../../tensor/index.ts';
import type { CellTables } from '../../statistics/group-stats.ts';
import { toWeights } from '../row-arguments.ts';

/** The state of a value that is neither 0, 1 nor missing. */
export const BAD_STATE = 3;

/**
 * Returns the state of each value: 0 if missing, 1 for the value 0, 2 for the value 1, {@link BAD_STATE} for anything
 * else; float32.
 */
export function stateOf(tf: Tf, values: Tensor1D): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  const isZero = tf.equal(numbers, 0).cast('float32');
  const isOne = tf.equal(numbers, 1).cast('float32');
  const isMissing = tf.isNaN(numbers).cast('float32');
  return isZero.mul(-2).sub(isOne).sub(isMissing.mul(BAD_STATE)).add<Tensor1D>(BAD_STATE);
}

/** Returns, for each row of a chunk, whether all its given values are known (not NaN); bool. */
export function areKnown(tf: Tf, slice: Slice, columns: readonly (Tensor1D | undefined)[]): Tensor1D {
  const missing = columns
    .filter((column) => column !== undefined)
    .map((column) => tf.isNaN(slice(column).cast<Tensor1D>('float32')));
  return tf.logicalNot(missing.reduce((any, one) => tf.logicalOr(any, one)));
}

/** Returns the values of rows that are known, and `otherwise` for all other rows; float32. */
export function known(tf: Tf, isKnown: Tensor1D, values: Tensor1D, otherwise = 0): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  return tf.where<Tensor1D>(isKnown, numbers, tf.fill(numbers.shape, otherwise));
}

/** Counts the incomplete rows of each group, [groups]. */
export async function droppedRows(
  tf: Tf,
  { rows, labels, codesOf }: DeviceGroups,
  isComplete: (slice: Slice) => Tensor1D,
): Promise<Float64Array> {
  const { counts } = await cellTables(tf, {
    rows,
    cells: labels.length + 1,
    codesOf: (slice) =>
      known(tf, tf.logicalNot(isComplete(slice)), codesOf(slice), -1)
        .add(1)
        .cast('int32'),
  });
  return counts.slice(1);
}

/** Returns the absolute values of a chunk, 0 for NaN; float32. */
export function sizesOf(tf: Tf, slice: Slice, values: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [values]), slice(values)).abs();
}

/** Registers a tensor, so that it is disposed when the work that created it ends, and returns the tensor. */
export type Keep = <T extends Tensor>(tensor: T) => T;

/**
 * Runs asynchronous work that creates tensors, for which `tf.tidy` cannot be used. The created tensors are disposed
 * when the work ends, even after an error. The caller's tensors are not disposed.
 */
export async function withTensors<T>(tf: Tf, work: (keep: Keep) => Promise<T>): Promise<T> {
  const kept: Tensor[] = [];
  try {
    return await work((tensor) => {
      kept.push(tensor);
      return tensor;
    });
  } finally {
    tf.dispose(kept);
  }
}

/** The groups of rows on the device, with their labels on the host as in `encodeGroups`. */
export interface DeviceGroups {
  readonly rows: number;
  readonly labels: readonly string[];
  /** Returns the codes of a chunk's rows, -1 if missing; float32. */
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/** Returns whether a sensitive attribute is already encoded on the device. */
export function isDeviceGroups(source: object): source is DeviceGroups {
  return typeof (source as Partial<DeviceGroups>).codesOf === 'function';
}

/** Maps indexes to codes, using a table on the device. If every index is its own code, no look-up is needed. */
export function translate(
  tf: Tf,
  keep: Keep,
  codes: Float32Array,
  positionsOf: (slice: Slice) => Tensor1D,
): (slice: Slice) => Tensor1D {
  if (codes.every((code, index) => code === index)) return positionsOf;
  const table = keep(tf.tensor1d(codes));
  return (slice) => tf.gather(table, positionsOf(slice).cast('int32'));
}

/** Returns the absolute weights and the negated weights, because {@link assertWeights} needs the maximum of each. */
export function weightExtremes(tf: Tf, slice: Slice, weights: Tensor1D | undefined): Tensor1D[] {
  if (weights === undefined) return [];
  const numbers = knownWeights(tf, slice, weights);
  return [numbers.abs(), numbers.neg()];
}

/**
 * Rejects weights that are infinite or negative.
 * @param extremes the maxima of {@link weightExtremes}
 * @returns the largest weight; 1 without weights
 * @throws {DataValidationError} if a weight is invalid; only then is the tensor read, to report the weight and its
 *   index
 */
export async function assertWeights(extremes: ArrayLike<number>, weights: Tensor1D | undefined): Promise<number> {
  if (weights === undefined) return 1;
  const [largest, negated] = [extremes[0] as number, extremes[1] as number];
  if (largest === Infinity || negated > 0) toWeights(await weights.data());
  return Math.max(0, largest);
}

/**
 * Counts rows by cell, and sums their weights and squared weights. Without weights, the sums are the counts. A missing
 * weight adds nothing.
 */
export async function weighCells(
  tf: Tf,
  cells: CellRows,
  weights: Tensor1D | undefined,
  largest: number,
): Promise<CellTables> {
  if (weights === undefined) {
    const { counts } = await cellTables(tf, cells);
    return { counts, weights: counts, squaredWeights: counts };
  }
  // Squares of large weights would overflow float32.
  const unit = unitOf(largest);
  const shares = (slice: Slice): Tensor1D => knownWeights(tf, slice, weights).div<Tensor1D>(unit);
  const { counts, sums } = await cellTables(tf, cells, [
    { valuesOf: shares, largest: 1 },
    { valuesOf: (slice) => shares(slice).square(), largest: 1 },
  ]);
  const [sum, squares] = sums as [Float64Array, Float64Array];
  return {
    counts,
    weights: sum.map((value) => value * unit),
    squaredWeights: squares.map((value) => value * unit * unit),
  };
}

function knownWeights(tf: Tf, slice: Slice, weights: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [weights]), slice(weights));
}
