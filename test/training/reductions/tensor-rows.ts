import * as tf from '@tensorflow/tfjs';

import type { ColumnSource } from '../../../src/table/index.ts';
import type { MatrixSource } from '../../../src/training/data/read-matrix.ts';
import type { FitOptions, TensorEstimator } from '../../../src/training/estimators/estimator.ts';
import { LeastSquares } from './least-squares.ts';

/**
 * The learner of the reference vectors for tensors. It computes on the host in float64, so that all float32 roundings
 * are those of the reduction.
 */
export class TensorLeastSquares extends LeastSquares implements TensorEstimator {
  readonly fitsTensors = true;

  override async fit(x: MatrixSource, y: ColumnSource, { sampleWeight }: FitOptions = {}): Promise<this> {
    const [features, targets, weights] = [x, y, sampleWeight] as unknown as [tf.Tensor2D, tf.Tensor1D, tf.Tensor1D];
    return super.fit(await features.array(), await targets.array(), { sampleWeight: await weights.array() });
  }

  async predictTensor(x: tf.Tensor2D): Promise<tf.Tensor1D> {
    return tf.tensor1d(Float32Array.from(await this.predict(await x.array())));
  }

  override clone(): TensorLeastSquares {
    return new TensorLeastSquares(this);
  }
}

/** Rows as tensors, with the group of each row as a code. */
export interface TensorRows {
  readonly x: tf.Tensor2D;
  readonly y: tf.Tensor1D;
  readonly sensitive: tf.Tensor1D;
  dispose(): void;
}

/** Uploads rows. The codes of groups are the indexes of their sorted names. */
export function onTensors(
  x: readonly (readonly number[])[],
  y: readonly number[],
  sensitive: readonly string[],
): TensorRows {
  const names = [...new Set(sensitive)].sort();
  const rows = {
    x: tf.tensor2d(x.map((row) => [...row])),
    y: tf.tensor1d([...y]),
    sensitive: tf.tensor1d(
      sensitive.map((name) => names.indexOf(name)),
      'int32',
    ),
  };
  return {
    ...rows,
    dispose: () => {
      tf.dispose([rows.x, rows.y, rows.sensitive]);
    },
  };
}
