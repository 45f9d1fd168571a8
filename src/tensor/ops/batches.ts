import type { Tensor, Tensor2D } from '@tensorflow/tfjs';

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
 * Creates batches of rows. On a separate device, all rows are uploaded once and stay there. Each epoch uploads only the
 * order of the rows, and batches are slices of the reordered rows. On the host's processor, batches are gathered from
 * the arrays. On wasm, gathering from arrays takes a tenth of the time of TensorFlow.js's `gather`. Rows also stay on
 * the host if they exceed the device's largest buffer, or if the device cannot represent the number of rows exactly.
 */
export function createBatches(tf: Tf, rows: NetworkRows, batchSize: number): Batches {
  const n = rows.y.length;
  const fits = rows.x.length <= largestTensor(tf) && n <= largestExactInteger(tf);
  return isOnDevice(tf) && fits && n > 0 ? batchesOnDevice(tf, rows, batchSize) : batchesOnHost(tf, rows, batchSize);
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

function batchesOnDevice(tf: Tf, rows: NetworkRows, batchSize: number): Batches {
  const { inputs, groupCount: g } = rows;
  const n = rows.y.length;
  const resident = {
    x: tf.tensor2d(rows.x, [n, inputs]),
    y: tf.tensor2d(rows.y, [n, 1]),
    groups: tf.tensor2d(Float32Array.from(rows.groups), [n, 1]),
  };
  /**
   * The rows in the order of the current epoch. `shares` contains each row's weight divided by the total weight of its
   * batch.
   */
  let ordered: Readonly<Record<'x' | 'y' | 'groups' | 'shares', Tensor2D>> | undefined;
  const reorder = (order: Int32Array): void => {
    tf.dispose({ ...ordered });
    ordered = tf.tidy(() => {
      const picked = tf.tensor1d(order, 'int32');
      const { x, y, groups } = resident;
      return {
        x: tf.gather(x, picked),
        y: tf.gather(y, picked),
        groups: tf.gather(groups, picked),
        shares: tf.tensor2d(sharesInOrder(rows, order, batchSize), [n, 1]),
      };
    });
  };
  reorder(inOrder(n));
  return {
    count: Math.ceil(n / batchSize),
    reorder,
    take(index) {
      const start = index * batchSize;
      const size = Math.min(batchSize, n - start);
      const cut = (name: keyof NonNullable<typeof ordered>): Tensor2D =>
        (ordered as NonNullable<typeof ordered>)[name].slice([start, 0], [size, -1]);
      const shares = cut('shares');
      return {
        x: cut('x'),
        labels: cut('y').reshape([1, size]),
        membership: membershipOf(tf, cut('groups'), shares, g),
        shares,
      };
    },
    dispose() {
      tf.dispose([{ ...resident }, { ...ordered }]);
    },
  };
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

/** Computes the weight of each row divided by the total weight of its batch, for rows in the given order. */
function sharesInOrder(rows: NetworkRows, order: Int32Array, batchSize: number): Float32Array {
  const shares = new Float32Array(order.length);
  for (let start = 0; start < order.length; start += batchSize) {
    const picked = order.subarray(start, start + batchSize);
    const total = weightOf(rows, picked);
    picked.forEach((row, index) => (shares[start + index] = (rows.weights?.[row] ?? 1) / total));
  }
  return shares;
}

/** Gathers rows on the host and uploads them to the tensor backend. */
function takeBatch(tf: Tf, rows: NetworkRows, picked: Int32Array): NetworkBatch {
  const { inputs } = rows;
  const x = new Float32Array(picked.length * inputs);
  for (const [index, row] of picked.entries()) {
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), index * inputs);
  }
  return { x: tf.tensor2d(x, [picked.length, inputs]), ...takeBatchRows(tf, rows, picked) };
}

/**
 * Gathers labels, membership and shares of the given rows on the host, and uploads them. The caller must dispose of the
 * tensors or wrap the call in `tf.tidy`.
 */
export function takeBatchRows(tf: Tf, rows: NetworkRows, picked: Int32Array): BatchRows {
  const g = rows.groupCount;
  const n = picked.length;
  const labels = new Float32Array(n);
  const membership = new Float32Array(n * g);
  const shares = new Float32Array(n);
  const total = weightOf(rows, picked);
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
 * Returns the total weight of all rows or of the given rows. If the total is 0, returns 1, so that the shares are 0.
 */
export function weightOf({ weights, y }: NetworkRows, picked?: Int32Array): number {
  if (weights === undefined) return (picked ?? y).length;
  let total = 0;
  if (picked === undefined) for (const weight of weights) total += weight;
  else for (const row of picked) total += weights[row] as number;
  return total > 0 ? total : 1;
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

/** Creates chunks of rows. On a separate device, the rows are uploaded once and stay there. */
export function createRowChunks(tf: Tf, { x, y, inputs }: NetworkRows, rowsAtOnce: number): RowChunks {
  const n = y.length;
  const starts = Array.from({ length: Math.max(1, Math.ceil(n / rowsAtOnce)) }, (_, chunk) => chunk * rowsAtOnce);
  const upload = (start: number): Tensor2D => {
    const size = Math.min(rowsAtOnce, n - start);
    return tf.tensor2d(x.subarray(start * inputs, (start + size) * inputs), [size, inputs]);
  };
  const resident = isOnDevice(tf) ? starts.map(upload) : undefined;
  return {
    map: (work) =>
      tf.concat(
        starts.map((start, chunk) => tf.tidy(() => work(resident?.[chunk] ?? upload(start)))),
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
