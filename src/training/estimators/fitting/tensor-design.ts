import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { createRowBlocks, readTogether, type RowBlocks, type Tf } from '../../../tensor/index.ts';
import { derivedResult, useDerived } from '../../data/fixed-tensor.ts';
import { type ColumnRanges, type ColumnScales, type LinearScore, scalesOf, toScaled } from './column-scales.ts';

/** A shifted and scaled matrix with an appended column of ones, on the tensor backend. */
interface TensorDesign {
  readonly scales: ColumnScales;
  readonly blocks: RowBlocks;
  dispose(): void;
}

const DESIGN = 'tensor-design';

/** The number of rows that are scaled at once. */
const ROWS_AT_ONCE = 2 ** 16;

/** A number beyond all values, by which excluded rows are moved out of a range. */
const BEYOND = 1e38;

/**
 * Uses the scaled rows of a matrix on the device. They are cached if the matrix is fixed.
 * @param x [rows, columns] float32, finite
 * @param weights the weights, [rows], if some of them are 0: rows of weight 0 do not affect the scales
 */
export function useTensorDesign<T>(
  tf: Tf,
  x: Tensor2D,
  weights: Tensor1D | undefined,
  work: (design: TensorDesign) => Promise<T>,
): Promise<T> {
  if (weights === undefined) return useDerived(x, DESIGN, () => createDesign(tf, x), work);
  return createDesign(tf, x, weights).then(async (design) => {
    try {
      return await work(design);
    } finally {
      design.dispose();
    }
  });
}

/** Computes the scales of the columns and the scaled rows. It reads four numbers per column. */
async function createDesign(tf: Tf, x: Tensor2D, weights?: Tensor1D): Promise<TensorDesign> {
  const [rows, columns] = x.shape;
  const parts = Array.from({ length: Math.ceil(rows / ROWS_AT_ONCE) }, (_, part) =>
    tf.tidy(() => {
      const [start, size] = [part * ROWS_AT_ONCE, Math.min(ROWS_AT_ONCE, rows - part * ROWS_AT_ONCE)];
      const isUsed = weights?.slice(start, size).greater(0).cast<Tensor1D>('float32').reshape<Tensor2D>([size, 1]);
      return { start, x: x.slice([start, 0], [size, columns]), isUsed };
    }),
  );
  try {
    const scales = await readScales(tf, parts);
    const [shift, factor] = [
      tf.tensor1d(Float32Array.from(scales.shift)),
      tf.tensor1d(Float32Array.from(scales.scale, (scale) => 1 / scale)),
    ];
    try {
      const blocks = createRowBlocks(tf, rows, columns + 1, (start, size) => {
        // A block of rows never extends over two parts.
        const part = parts[Math.floor(start / ROWS_AT_ONCE)] as Part;
        const own = part.x.slice([start - part.start, 0], [size, columns]);
        return tf.concat([own.sub<Tensor2D>(shift).mul<Tensor2D>(factor), tf.ones([size, 1])], 1);
      });
      return {
        scales,
        blocks,
        dispose: () => {
          blocks.dispose();
        },
      };
    } finally {
      tf.dispose([shift, factor]);
    }
  } finally {
    tf.dispose(parts.flatMap(({ x: own, isUsed }) => (isUsed === undefined ? [own] : [own, isUsed])));
  }
}

/** Consecutive rows. */
interface Part {
  readonly start: number;
  readonly x: Tensor2D;
  /** Whether each row counts, [rows, 1], 1 or 0; undefined if all rows count. */
  readonly isUsed: Tensor2D | undefined;
}

async function readScales(tf: Tf, parts: readonly Part[]): Promise<ColumnScales> {
  const tensors = tf.tidy(() => {
    const reduced = parts.map(({ x, isUsed }) => {
      const off = isUsed === undefined ? undefined : tf.sub(1, isUsed).mul<Tensor2D>(BEYOND);
      return {
        low: (off === undefined ? x : x.add<Tensor2D>(off)).min<Tensor1D>(0),
        high: (off === undefined ? x : x.sub<Tensor2D>(off)).max<Tensor1D>(0),
        sum: (isUsed === undefined ? x : x.mul<Tensor2D>(isUsed)).sum<Tensor1D>(0),
        count: isUsed === undefined ? tf.scalar(x.shape[0]) : isUsed.sum(),
      };
    });
    const stacked = (name: keyof (typeof reduced)[number]): Tensor2D =>
      tf.stack(reduced.map((part) => part[name])) as Tensor2D;
    const [low, high] = [stacked('low').min<Tensor1D>(0), stacked('high').max<Tensor1D>(0)];
    const mean = stacked('sum').sum<Tensor1D>(0).div<Tensor1D>(stacked('count').sum());
    const others = parts.map(({ x, isUsed }) => {
      const isOther = tf.logicalAnd(x.notEqual(low), x.notEqual(high)).cast<Tensor2D>('float32');
      return (isUsed === undefined ? isOther : isOther.mul<Tensor2D>(isUsed)).max<Tensor1D>(0);
    });
    return [low, high, mean, (tf.stack(others) as Tensor2D).max<Tensor1D>(0)];
  });
  try {
    const [low, high, mean, hasMore] = (await readTogether(tf, tensors)).map((values) => Float64Array.from(values));
    return scalesOf({ low, high, hasMore, mean } as ColumnRanges);
  } finally {
    tf.dispose(tensors);
  }
}

/** The number of rows whose means shift the columns of a matrix that has no design. */
const ROWS_OF_A_MEAN = 2 ** 12;

/**
 * Computes X b + b0 for each row, [rows], on the device. Columns are shifted before the product, so that columns such
 * as years lose no digits.
 * @param x [rows, columns] float32
 */
export async function tensorScores(tf: Tf, x: Tensor2D, score: LinearScore): Promise<Tensor1D> {
  const design = await derivedResult<TensorDesign>(x, DESIGN);
  if (design !== undefined) return designScores(tf, design, score);
  const [rows, columns] = x.shape;
  if (rows === 0) return tf.tensor1d([], 'float32');
  const mean = tf.tidy(() => x.slice([0, 0], [Math.min(rows, ROWS_OF_A_MEAN), columns]).mean<Tensor1D>(0));
  try {
    const shift = Float64Array.from(await mean.data());
    const c = toScaled(score, { shift, scale: new Float64Array(columns).fill(1) });
    return tf.tidy(() =>
      x
        .sub<Tensor2D>(mean)
        .matMul(tf.tensor2d(Float32Array.from(c.subarray(0, columns)), [columns, 1]))
        .add(c[columns] as number)
        .reshape<Tensor1D>([rows]),
    );
  } finally {
    mean.dispose();
  }
}

function designScores(tf: Tf, { blocks, scales }: TensorDesign, score: LinearScore): Tensor1D {
  return tf.tidy(() => {
    const c = tf.tensor2d(Float32Array.from(toScaled(score, scales)), [blocks.columns, 1]);
    return tf.concat(
      blocks.blocks.map(({ x, rows }) => x.reshape<Tensor2D>([rows, blocks.columns]).matMul(c).reshape([rows])),
    );
  });
}
