import type { Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { multipliesInBatches } from '../backend-traits.ts';
import type { Tf } from '../runtime.ts';

/**
 * The number of rows that one kernel sums in float32. The number is small enough that only the last digits are lost to
 * rounding, and large enough that few kernels are needed.
 */
const ROWS_PER_SUM = 2 ** 12;

/** The maximum number of rows in a block, if one kernel computes the sums of all parts of a block. */
const ROWS_PER_BATCH = 2 ** 16;

/** A block of rows of a matrix on the tensor backend, together with its transpose, in k parts that are summed first. */
export interface RowBlock {
  /** The index of the first row. */
  readonly start: number;
  /** The number of rows, k m. */
  readonly rows: number;
  /** The rows, [k, m, d]. */
  readonly x: Tensor3D;
  /**
   * The transpose of `x`, [k, d, m]. The transpose is stored because on wasm, a product with a transpose flag takes ten
   * times as long as a product without the flag.
   */
  readonly transposed: Tensor3D;
}

/** A matrix on the tensor backend, in blocks of rows. */
export interface RowBlocks {
  /** The number of columns, d. */
  readonly columns: number;
  readonly blocks: readonly RowBlock[];
  dispose(): void;
}

/** The terms that the rows of a block contribute to the sums; each tensor is [1, m], float32. */
export interface BlockTerms {
  readonly weights: Tensor2D;
  readonly residuals: Tensor2D;
  readonly losses: Tensor2D;
}

/** The sums over all rows. */
export interface NormalEquations {
  /** The sum of weight x x', [d, d], row-major; undefined if not requested. */
  readonly products: Float64Array | undefined;
  /** The sum of residual x, [d]. */
  readonly gradient: Float64Array;
  /** The sum of the losses. */
  readonly loss: number;
}

/**
 * Uploads a matrix to the tensor backend. The result can be used for any number of {@link normalEquations} calls.
 * @param values the matrix, [rows, columns], row-major
 */
export function uploadRowBlocks(tf: Tf, values: Float32Array, columns: number): RowBlocks {
  return createRowBlocks(tf, values.length / columns, columns, (start, size) =>
    tf.tensor2d(values.subarray(start * columns, (start + size) * columns), [size, columns]),
  );
}

/**
 * Creates blocks from rows that are computed range by range, for example from a tensor on the device.
 * @param rowsOf returns a range of rows, [size, columns]
 */
export function createRowBlocks(
  tf: Tf,
  rows: number,
  columns: number,
  rowsOf: (start: number, size: number) => Tensor2D,
): RowBlocks {
  const blocks: RowBlock[] = [];
  const rowsPerBlock = multipliesInBatches(tf) ? ROWS_PER_BATCH : ROWS_PER_SUM;
  for (let start = 0, size; start < rows; start += size) {
    const left = Math.min(rowsPerBlock, rows - start);
    // All parts of a block have the same length, so the last rows form a block of their own.
    size = left > ROWS_PER_SUM ? left - (left % ROWS_PER_SUM) : left;
    const shape: [number, number, number] = [Math.max(1, size / ROWS_PER_SUM), Math.min(size, ROWS_PER_SUM), columns];
    const [x, transposed] = tf.tidy(() => {
      const part = rowsOf(start, size).reshape<Tensor3D>(shape);
      return [part, part.transpose<Tensor3D>([0, 2, 1])] as const;
    });
    blocks.push({ start, rows: size, x, transposed });
  }
  return {
    columns,
    blocks,
    dispose: () => {
      tf.dispose(blocks.flatMap(({ x, transposed }) => [x, transposed]));
    },
  };
}

/**
 * Computes X'WX and X'r, the two sides of the normal equations for a step of (reweighted) least squares, and the sum of
 * the losses at the current point. Each part of {@link ROWS_PER_SUM} rows is summed in float32. The sums of the parts
 * are then added in pairs, so errors hardly grow with the number of rows. The totals are read from the device in one
 * transfer, whose size does not depend on the number of rows.
 *
 * The weights multiply the transposed rows, [d, m], so that they broadcast along the last axis. On wasm, this halves
 * the time of the product.
 * @param x the rows, created with {@link createRowBlocks}
 * @param termsOf returns the weights, residuals and losses of a block's rows; called in the order of `x.blocks`
 * @param withProducts whether to compute X'WX, which takes most of the time
 */
export async function normalEquations(
  tf: Tf,
  x: RowBlocks,
  termsOf: (block: RowBlock, index: number) => BlockTerms,
  withProducts = true,
): Promise<NormalEquations> {
  const d = x.columns;
  const sums = tf.tidy(() =>
    addInPairs(
      tf,
      tf.concat(
        x.blocks.map((block, index) => tf.tidy(() => partSums(tf, block, termsOf(block, index), withProducts))),
      ),
    ),
  );
  try {
    const totals = Float64Array.from(await sums.data());
    const size = withProducts ? d * d : 0;
    return {
      products: withProducts ? totals.subarray(0, size) : undefined,
      gradient: totals.subarray(size, size + d),
      loss: totals[size + d] as number,
    };
  } finally {
    sums.dispose();
  }
}

/** Concatenates the products, gradient and loss of each part of a block, [k, sums]. */
function partSums(tf: Tf, { x, transposed }: RowBlock, terms: BlockTerms, withProducts: boolean): Tensor2D {
  const [parts, rows] = x.shape;
  const perPart = (values: Tensor2D): Tensor3D => values.reshape<Tensor3D>([parts, 1, rows]);
  const gradient = tf.matMul(perPart(terms.residuals), x).reshape<Tensor2D>([parts, -1]);
  const loss = perPart(terms.losses).sum<Tensor2D>(2);
  if (!withProducts) return tf.concat([gradient, loss], 1);
  const products = tf.matMul(transposed.mul<Tensor3D>(perPart(terms.weights)), x).reshape<Tensor2D>([parts, -1]);
  return tf.concat([products, gradient, loss], 1);
}

/** Adds rows in pairs, then the sums in pairs, and so on, so that only sums of similar size are added. */
function addInPairs(tf: Tf, rows: Tensor2D): Tensor1D {
  let sums = rows;
  while (sums.shape[0] > 1) {
    const [count, columns] = sums.shape;
    const half = Math.floor(count / 2);
    const added = sums.slice([0, 0], [half, columns]).add<Tensor2D>(sums.slice([half, 0], [half, columns]));
    sums = count % 2 === 0 ? added : tf.concat([added, sums.slice([count - 1, 0], [1, columns])]);
  }
  return sums.reshape<Tensor1D>([-1]);
}
