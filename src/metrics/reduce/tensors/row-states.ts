import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { type CellRows, cellTables, type Slice, type Tf, unitOf } from '../../../tensor/index.ts';
import type { CellTables } from '../../statistics/group-stats.ts';
import { toWeights } from '../row-arguments.ts';

/** The state of a value that is neither 0, 1 nor missing. */
export const BAD_STATE = 3;

/** 0 where missing, 1 for 0, 2 for 1, {@link BAD_STATE} for anything else; float32. */
export function stateOf(tf: Tf, values: Tensor1D): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  const isZero = tf.equal(numbers, 0).cast('float32');
  const isOne = tf.equal(numbers, 1).cast('float32');
  const isMissing = tf.isNaN(numbers).cast('float32');
  return isZero.mul(-2).sub(isOne).sub(isMissing.mul(BAD_STATE)).add<Tensor1D>(BAD_STATE);
}

/** Where none of some values of a chunk's rows is NaN; bool. */
export function areKnown(tf: Tf, slice: Slice, columns: readonly (Tensor1D | undefined)[]): Tensor1D {
  const missing = columns
    .filter((column) => column !== undefined)
    .map((column) => tf.isNaN(slice(column).cast<Tensor1D>('float32')));
  return tf.logicalNot(missing.reduce((any, one) => tf.logicalOr(any, one)));
}

/** The values of known rows, and one value instead of the others; float32. */
export function known(tf: Tf, isKnown: Tensor1D, values: Tensor1D, otherwise = 0): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  return tf.where<Tensor1D>(isKnown, numbers, tf.fill(numbers.shape, otherwise));
}

/** Counts the rows of each group that lack a value, [groups]. */
export async function droppedRows(
  tf: Tf,
  { rows, labels, codesOf }: DeviceGroups,
  isWhole: (slice: Slice) => Tensor1D,
): Promise<Float64Array> {
  const { counts } = await cellTables(tf, {
    rows,
    cells: labels.length + 1,
    codesOf: (slice) =>
      known(tf, tf.logicalNot(isWhole(slice)), codesOf(slice), -1)
        .add(1)
        .cast('int32'),
  });
  return counts.slice(1);
}

/** The sizes of a chunk's values, 0 for NaN; float32. */
export function sizesOf(tf: Tf, slice: Slice, values: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [values]), slice(values)).abs();
}

/** Has a tensor disposed of when the work that made it ends; gives it back. */
export type Keep = <T extends Tensor>(tensor: T) => T;

/**
 * Runs work that makes tensors of its own and waits in between, where
 * `tf.tidy` cannot; they go when it ends, well or not. The caller's tensors stay.
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

/** Groups of rows on the device, and their labels on the host, as `encodeGroups` gives them. */
export interface DeviceGroups {
  readonly rows: number;
  readonly labels: readonly string[];
  /** The codes of a chunk's rows, -1 where missing; float32. */
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/**
 * The codes of rows whose places are known, by a table of codes on the device;
 * where all places are their own codes there is nothing to look up.
 */
export function translate(
  tf: Tf,
  keep: Keep,
  codes: Float32Array,
  placesOf: (slice: Slice) => Tensor1D,
): (slice: Slice) => Tensor1D {
  if (codes.every((code, place) => code === place)) return placesOf;
  const table = keep(tf.tensor1d(codes));
  return (slice) => tf.gather(table, placesOf(slice).cast('int32'));
}

/** What {@link assertWeights} wants to know, for the maxima of a check: the sizes of weights, and the weights negated. */
export function weightExtremes(tf: Tf, slice: Slice, weights: Tensor1D | undefined): Tensor1D[] {
  if (weights === undefined) return [];
  const numbers = knownWeights(tf, slice, weights);
  return [numbers.abs(), numbers.neg()];
}

/**
 * Refuses weights that are infinite or negative.
 * @param extremes the maxima of {@link weightExtremes}
 * @returns the largest weight; 1 without weights
 * @throws {DataValidationError} with the weight and its index, for which alone the tensor is read
 */
export async function assertWeights(extremes: ArrayLike<number>, weights: Tensor1D | undefined): Promise<number> {
  if (weights === undefined) return 1;
  const [largest, negated] = [extremes[0] as number, extremes[1] as number];
  if (largest === Infinity || negated > 0) toWeights(await weights.data());
  return Math.max(0, largest);
}

/**
 * Counts rows by cell, and sums their weights and squared weights; the counts
 * themselves where rows have no weights. A missing weight adds nothing.
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
  // Squares of large weights would overflow.
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
