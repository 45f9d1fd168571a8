import type { Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';

/** Rows ready for a network, on the host. */
export interface NetworkRows {
  /** [n, d], row-major. */
  readonly x: Float32Array;
  /** [n]; 0 or 1, or a regression's targets. */
  readonly y: Float32Array;
  /** [n], group codes, -1 for none. */
  readonly groups: Int32Array;
  /** [n], 0 or more; equal weights when left out. */
  readonly weights?: Float32Array | undefined;
  /** Features, d. */
  readonly inputs: number;
  /** Groups, g. */
  readonly groupCount: number;
}

/** Some rows where the network is. */
export interface NetworkBatch {
  /** [n, d] */
  readonly x: Tensor2D;
  /** [1, n] */
  readonly labels: Tensor2D;
  /** [n, g], each row's share of the batch's weight in its group's column, else 0. */
  readonly membership: Tensor2D;
  /** [n, 1], each row's share of the batch's weight. */
  readonly shares: Tensor2D;
}

/**
 * Takes rows to the network. They are gathered on the host: on wasm that costs
 * a tenth of `gather`.
 */
export function takeBatch(tf: Tf, rows: NetworkRows, picked: Int32Array): NetworkBatch {
  const { inputs, groupCount: g } = rows;
  const n = picked.length;
  const x = new Float32Array(n * inputs);
  const labels = new Float32Array(n);
  const membership = new Float32Array(n * g);
  const shares = new Float32Array(n);
  const total = weightOf(rows, picked);
  for (let i = 0; i < n; i++) {
    const row = picked[i] as number;
    const share = (rows.weights === undefined ? 1 : (rows.weights[row] as number)) / total;
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), i * inputs);
    labels[i] = rows.y[row] as number;
    shares[i] = share;
    const group = rows.groups[row] as number;
    if (group >= 0) membership[i * g + group] = share;
  }
  return {
    x: tf.tensor2d(x, [n, inputs]),
    labels: tf.tensor2d(labels, [1, n]),
    membership: tf.tensor2d(membership, [n, g]),
    shares: tf.tensor2d(shares, [n, 1]),
  };
}

/** The weight of rows in all, or of some of them; 1 where they have none, so that their shares are 0. */
export function weightOf({ weights, y }: NetworkRows, picked?: Int32Array): number {
  if (weights === undefined) return (picked ?? y).length;
  let total = 0;
  if (picked === undefined) for (const weight of weights) total += weight;
  else for (const row of picked) total += weights[row] as number;
  return total > 0 ? total : 1;
}

/** The prime behind multiplicative hashing, 2^32 over the golden ratio. */
const SPREAD = 2654435761;

/**
 * The numbers 0 to n - 1 in parts of nearly equal size, at most `most`. Several
 * parts are dealt out evenly over the rows, so that their order decides nothing.
 */
export function rowParts(rows: number, most = rows): Int32Array[] {
  const count = Math.max(1, Math.ceil(rows / most));
  const all = Int32Array.from({ length: rows }, (_, row) => row);
  if (count > 1) all.sort((a, b) => Math.imul(a, SPREAD) - Math.imul(b, SPREAD));
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((part * rows) / count));
  return bounds.slice(1).map((end, part) => all.subarray(bounds[part], end));
}
