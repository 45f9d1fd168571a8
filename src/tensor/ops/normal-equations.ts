import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * The number of rows that one kernel sums in float32. The number is small enough that only the last digits are lost to
 * rounding, and large enough that few kernels are needed.
 */
const ROWS_PER_BLOCK = 2 ** 12;

/** A block of rows of a matrix on the tensor backend, together with its transpose. */
export interface RowBlock {
  /** The index of the first row. */
  readonly start: number;
  /** The number of rows, m. */
  readonly rows: number;
  /** The rows, [m, d]. */
  readonly x: Tensor2D;
  /**
   * The transpose of `x`, [d, m]. The transpose is stored because on wasm, a product with a transpose flag takes ten
   * times as long as a product without the flag.
   */
  readonly transposed: Tensor2D;
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
  const rows = values.length / columns;
  const blocks: RowBlock[] = [];
  for (let start = 0; start < rows; start += ROWS_PER_BLOCK) {
    const size = Math.min(ROWS_PER_BLOCK, rows - start);
    const x = tf.tensor2d(values.subarray(start * columns, (start + size) * columns), [size, columns]);
    blocks.push({ start, rows: size, x, transposed: x.transpose<Tensor2D>() });
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
 * the losses at the current point. Each block of rows is summed in float32, and the sums of the blocks are added in
 * float64. Errors therefore do not grow with the number of rows. All results are read from the device in one transfer.
 *
 * The weights multiply the transposed rows, [d, m], so that they broadcast along the last axis. On wasm, this halves
 * the time of the product.
 * @param x the rows, uploaded with {@link uploadRowBlocks}
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
    tf.stack(x.blocks.map((block, index) => tf.tidy(() => blockSums(tf, block, termsOf(block, index), withProducts)))),
  );
  try {
    const totals = addBlocks(await sums.data(), x.blocks.length);
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

/** Concatenates a block's products, gradient and loss. */
function blockSums(tf: Tf, { x, transposed }: RowBlock, terms: BlockTerms, withProducts: boolean): Tensor1D {
  const gradient = tf.matMul(terms.residuals, x).reshape<Tensor1D>([-1]);
  const loss = terms.losses.sum().reshape<Tensor1D>([1]);
  if (!withProducts) return tf.concat([gradient, loss]);
  const products = tf.matMul(transposed.mul<Tensor2D>(terms.weights), x).reshape<Tensor1D>([-1]);
  return tf.concat([products, gradient, loss]);
}

function addBlocks(values: ArrayLike<number>, blocks: number): Float64Array {
  const size = values.length / blocks;
  const totals = new Float64Array(size);
  for (let index = 0; index < values.length; index++) {
    totals[index % size] = (totals[index % size] as number) + (values[index] as number);
  }
  return totals;
}
