import type { Rank, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { sumOf } from '../../internal/values.ts';
import { isOnDevice, largestExactInteger, largestTensor } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';
import { fusedMap } from './fused-map.ts';

/** Rows in host memory that are encoded for a network. */
export interface NetworkRows {
  /** The features, [n, d], row-major. */
  readonly x: Float32Array;
  /** The labels, [n], 0 or 1; for a regression, the targets. */
  readonly y: Float32Array;
  /** The group codes, [n]; -1 for rows without a group. */
  readonly groups: Int32Array;
  /** The row weights, [n], 0 or more; equal weights by default. */
  readonly weights?: Float32Array | undefined;
  /** The number of features, d. */
  readonly inputs: number;
  /** The number of groups, g. */
  readonly groupCount: number;
}

/** Rows on the tensor backend that are encoded for a network. The creator of the tensors disposes of them. */
export interface NetworkTensors extends Pick<NetworkRows, 'inputs' | 'groupCount'> {
  /** The features, [n, d], float32. */
  readonly x: Tensor2D;
  /** The labels or the targets, [n, 1], float32. */
  readonly y: Tensor2D;
  /** The group codes, [n, 1], float32; -1 for rows without a group. */
  readonly groups: Tensor2D;
  /** The row weights, [n, 1], float32, 0 or more; equal weights by default. */
  readonly weights?: Tensor2D | undefined;
}

/** Rows for a network, as arrays in host memory or as tensors. */
export type NetworkData = NetworkRows | NetworkTensors;

/** Features on the tensor backend, without the other columns of {@link NetworkTensors}. */
export type FeatureTensor = Pick<NetworkTensors, 'x'>;

/** Returns whether rows are tensors. */
export function areTensors<T extends FeatureTensor>(rows: NetworkRows | T): rows is T {
  return !(rows.x instanceof Float32Array);
}

/** Returns the number of rows. */
export function countRows(rows: NetworkRows | FeatureTensor): number {
  return areTensors(rows) ? rows.x.shape[0] : rows.y.length;
}

/** The values that a loss needs for a set of rows, on the tensor backend. */
export interface BatchRows {
  /** The labels, [1, n]. */
  readonly labels: Tensor2D;
  /**
   * The membership matrix, [n, g]. Row i has its share of the batch's weight in the column of its group. Other columns
   * contain 0.
   */
  readonly membership: Tensor2D;
  /** The weight of each row divided by the total weight of the batch, [n, 1]. */
  readonly shares: Tensor2D;
}

/** A batch of rows on the tensor backend. */
export interface NetworkBatch extends BatchRows {
  /** The features, [n, d]. */
  readonly x: Tensor2D;
}

/** The training rows in batches, for several epochs. */
export interface Batches {
  /** The number of batches. */
  readonly count: number;
  /** Reorders the rows for the next epoch. */
  reorder(order: Int32Array): void;
  /** Returns a batch by its index, from 0. Call this method inside `tf.tidy`. */
  take(index: number): NetworkBatch;
  dispose(): void;
}

/**
 * Creates batches of rows. Rows that are tensors stay where they are. On a separate device, arrays are uploaded once.
 * Each epoch uploads only the order of the rows. On the host's processor, batches of arrays are gathered from the
 * arrays. On wasm, gathering from the arrays takes a tenth of the time of `gather`. Arrays also stay on the host if they
 * exceed the device's largest buffer, or if the device cannot represent the number of rows exactly.
 */
export function createBatches(tf: Tf, rows: NetworkData, batchSize: number): Batches {
  if (areTensors(rows)) return batchesOfTensors(tf, rows, batchSize);
  const n = rows.y.length;
  const fits = rows.x.length <= largestTensor(tf) && n <= largestExactInteger(tf);
  if (!isOnDevice(tf) || !fits || n === 0) return batchesOnHost(tf, rows, batchSize);
  const resident = uploadRows(tf, rows);
  const batches = batchesOfTensors(tf, resident, batchSize);
  return {
    ...batches,
    dispose() {
      batches.dispose();
      disposeRows(tf, resident);
    },
  };
}

function batchesOnHost(tf: Tf, rows: NetworkRows, batchSize: number): Batches {
  let order = inOrder(rows.y.length);
  return {
    count: Math.ceil(order.length / batchSize),
    reorder: (next) => {
      order = next;
    },
    take: (index) => takeBatch(tf, rows, order.subarray(index * batchSize, (index + 1) * batchSize)),
    dispose: () => undefined,
  };
}

/** Uploads rows to the tensor backend. */
export function uploadRows(tf: Tf, { x, y, groups, weights, inputs, groupCount }: NetworkRows): NetworkTensors {
  const n = y.length;
  return {
    x: tf.tensor2d(x, [n, inputs]),
    y: tf.tensor2d(y, [n, 1]),
    groups: tf.tensor2d(Float32Array.from(groups), [n, 1]),
    weights: weights && tf.tensor2d(weights, [n, 1]),
    inputs,
    groupCount,
  };
}

/** Disposes of the tensors of rows. */
export function disposeRows(tf: Tf, { x, y, groups, weights }: NetworkTensors): void {
  tf.dispose([x, y, groups, ...(weights === undefined ? [] : [weights])]);
}

function batchesOfTensors(tf: Tf, rows: NetworkTensors, batchSize: number): Batches {
  const n = countRows(rows);
  let order = inOrder(n);
  /** The rows in the order in which the epoch visits them. Their weights are shares of their batches. */
  let ordered: NetworkTensors | undefined;
  const forget = (): void => {
    if (ordered !== undefined) disposeRows(tf, ordered);
    ordered = undefined;
  };
  const batches: Batches = {
    count: Math.ceil(n / batchSize),
    reorder(next) {
      forget();
      order = next;
      // One gather per epoch starts fewer kernels than one per batch. On the host's processor, a slice would copy all
      // rows first.
      if (!isOnDevice(tf)) return;
      ordered = tf.tidy(() => {
        const taken = takeRows(tf, rows, tf.tensor1d(order, 'int32'));
        return { ...taken, weights: taken.weights && sharesOfBatches(tf, taken.weights, batchSize) };
      });
    },
    take(index) {
      const start = index * batchSize;
      const size = Math.min(batchSize, n - start);
      if (ordered === undefined) {
        const picked = takeRows(tf, rows, tf.tensor1d(order.subarray(start, start + size), 'int32'));
        return { x: picked.x, ...batchRowsOf(tf, picked, picked.weights && sharesOf(tf, picked.weights)) };
      }
      const picked = mapRows(ordered, (column) => column.slice([start, 0], [size, -1]));
      return { x: picked.x, ...batchRowsOf(tf, picked, picked.weights) };
    },
    dispose: forget,
  };
  batches.reorder(order);
  return batches;
}

/** Gathers rows on the tensor backend, in the order of the given row numbers, [m] int32. */
export function takeRows(tf: Tf, rows: NetworkTensors, picked: Tensor1D): NetworkTensors {
  return mapRows(rows, (column) => tf.gather(column, picked));
}

function mapRows(rows: NetworkTensors, work: (column: Tensor2D) => Tensor2D): NetworkTensors {
  const { x, y, groups, weights } = rows;
  return { ...rows, x: work(x), y: work(y), groups: work(groups), weights: weights && work(weights) };
}

/**
 * Computes the values that losses use for a batch of tensors.
 * @param shares each row's share in the weight of the batch, [n, 1]; equal shares by default
 */
function batchRowsOf(tf: Tf, { y, groups, groupCount }: NetworkTensors, shares: Tensor2D | undefined): BatchRows {
  const n = y.size;
  const own = shares ?? tf.fill<Rank.R2>([n, 1], 1 / n);
  return { labels: y.reshape([1, n]), membership: membershipOf(tf, groups, own, groupCount), shares: own };
}

/** Returns each row's share in the sum of weights, [n, 1] or [1, n]. If the sum is 0, the shares are 0. */
function sharesOf(tf: Tf, weights: Tensor2D): Tensor2D {
  return weights.div(orOne(tf, weights.sum()));
}

/** Computes the shares of {@link sharesOf} for all batches of rows at once, [n, 1]. */
function sharesOfBatches(tf: Tf, weights: Tensor2D, batchSize: number): Tensor2D {
  const n = weights.size;
  const count = Math.ceil(n / batchSize);
  const batches = weights
    .reshape<Tensor1D>([n])
    .pad([[0, count * batchSize - n]])
    .reshape<Tensor2D>([count, batchSize]);
  return batches
    .div(orOne(tf, batches.sum(1, true)))
    .reshape<Tensor2D>([count * batchSize, 1])
    .slice([0, 0], [n, 1]);
}

/** Returns totals, with 1 for each total of 0, so that shares of this total are 0. */
function orOne(tf: Tf, totals: Tensor): Tensor {
  return tf.where(totals.greater(0), totals, tf.onesLike(totals));
}

/**
 * Computes the membership matrix, [n, g], from group codes, [n, 1]. Each row has its share in the column of its group,
 * and 0 in the other columns.
 */
function membershipOf(tf: Tf, groups: Tensor2D, shares: Tensor2D, g: number): Tensor2D {
  return fusedMap(tf, {
    name: 'membership',
    shape: [groups.shape[0], g],
    inputs: { groups, shares },
    wgsl: 'value = select(0.0, shares, i32(groups) == index % uniforms.outShape[1]);',
    plain: () =>
      groups
        .equal(tf.range(0, g).reshape([1, g]))
        .cast<Tensor2D>('float32')
        .mul(shares),
  });
}

function inOrder(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, row) => row);
}

/** Gathers rows on the host and uploads them to the tensor backend. */
function takeBatch(tf: Tf, rows: NetworkRows, picked: Int32Array): NetworkBatch {
  return { x: takeFeatures(tf, rows, picked), ...takeBatchRows(tf, rows, picked) };
}

/** Gathers the features of rows, [m, d]. */
function takeFeatures(tf: Tf, rows: NetworkRows | FeatureTensor, picked: Int32Array): Tensor2D {
  if (areTensors(rows)) return tf.tidy(() => tf.gather(rows.x, tf.tensor1d(picked, 'int32')));
  const { inputs } = rows;
  const x = new Float32Array(picked.length * inputs);
  for (const [index, row] of picked.entries()) {
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), index * inputs);
  }
  return tf.tensor2d(x, [picked.length, inputs]);
}

/**
 * Gathers the values that losses use: those of arrays on the host, from where they are uploaded, and those of tensors on
 * the tensor backend. The caller must dispose of them or wrap the call in `tf.tidy`.
 */
export function takeBatchRows(tf: Tf, rows: NetworkData, picked: Int32Array): BatchRows {
  if (areTensors(rows)) {
    return tf.tidy(() => {
      const taken = takeRows(tf, { ...rows, x: rows.y }, tf.tensor1d(picked, 'int32'));
      return { ...batchRowsOf(tf, taken, taken.weights && sharesOf(tf, taken.weights)) };
    });
  }
  const g = rows.groupCount;
  const n = picked.length;
  const labels = new Float32Array(n);
  const membership = new Float32Array(n * g);
  const shares = new Float32Array(n);
  // If the total is 0, the shares are 0.
  const total = weightOf(rows, picked) || 1;
  for (let i = 0; i < n; i++) {
    const row = picked[i] as number;
    const share = (rows.weights === undefined ? 1 : (rows.weights[row] as number)) / total;
    labels[i] = rows.y[row] as number;
    shares[i] = share;
    const group = rows.groups[row] as number;
    if (group >= 0) membership[i * g + group] = share;
  }
  return {
    labels: tf.tensor2d(labels, [1, n]),
    membership: tf.tensor2d(membership, [n, g]),
    shares: tf.tensor2d(shares, [n, 1]),
  };
}

/**
 * Returns the share of each part in the weight of all parts, [1, parts].
 * @param parts the rows of each part
 */
export function partShares(tf: Tf, rows: NetworkData, parts: readonly Int32Array[]): Tensor2D {
  if (!areTensors(rows)) {
    const weights = parts.map((picked) => weightOf(rows, picked));
    const total = sumOf(weights) || 1;
    return tf.tensor2d([weights.map((weight) => weight / total)]);
  }
  const { weights } = rows;
  return tf.tidy(() => {
    const sums =
      weights === undefined
        ? tf.tensor1d(parts.map(({ length }) => length))
        : tf.stack(parts.map((picked) => tf.gather(weights, tf.tensor1d(picked, 'int32')).sum()));
    return sharesOf(tf, sums.reshape<Tensor2D>([1, -1]));
  });
}

/** Returns the total weight of the given rows. */
function weightOf({ weights }: NetworkRows, picked: Int32Array): number {
  if (weights === undefined) return picked.length;
  return picked.reduce((total, row) => total + (weights[row] as number), 0);
}

/** Rows in chunks, which can be passed through a network any number of times. */
export interface RowChunks {
  /**
   * Applies a function to each chunk, [m, d], and concatenates the results to [k, n]. Call this method inside
   * `tf.tidy`.
   */
  map(work: (x: Tensor2D) => Tensor2D): Tensor2D;
  dispose(): void;
}

/**
 * Creates chunks of rows. On a separate device, arrays are uploaded once and stay there. Chunks of tensors are gathered
 * each time, because copies of all rows would take as much memory as the rows.
 * @param order the rows of the chunks; by default, all rows in their own order
 */
export function createRowChunks(
  tf: Tf,
  rows: NetworkRows | FeatureTensor,
  rowsAtOnce: number,
  order?: Int32Array,
): RowChunks {
  const n = order?.length ?? countRows(rows);
  const starts = Array.from({ length: Math.max(1, Math.ceil(n / rowsAtOnce)) }, (_, chunk) => chunk * rowsAtOnce);
  const take = (start: number): Tensor2D => {
    const end = Math.min(start + rowsAtOnce, n);
    if (order !== undefined) return takeFeatures(tf, rows, order.subarray(start, end));
    if (areTensors(rows)) return tf.tidy(() => tf.gather(rows.x, tf.range(start, end, 1, 'int32')));
    return tf.tensor2d(rows.x.subarray(start * rows.inputs, end * rows.inputs), [end - start, rows.inputs]);
  };
  const resident = isOnDevice(tf) && !areTensors(rows) ? starts.map(take) : undefined;
  return {
    map: (work) =>
      tf.concat(
        starts.map((start, chunk) => tf.tidy(() => work(resident?.[chunk] ?? take(start)))),
        1,
      ),
    dispose() {
      tf.dispose(resident ?? []);
    },
  };
}

/**
 * Reads several tensors in one transfer, because each read makes the host wait for the device.
 * @param tensors the tensors, float32; they are not disposed of
 * @returns the values of each tensor, as a flat array
 */
export async function readTogether(tf: Tf, tensors: readonly Tensor[]): Promise<Float32Array[]> {
  const joined = tf.tidy(() => tf.concat(tensors.map((tensor) => tensor.flatten())));
  try {
    const values = await joined.data<'float32'>();
    let start = 0;
    return tensors.map(({ size }) => values.slice(start, (start += size)));
  } finally {
    joined.dispose();
  }
}
