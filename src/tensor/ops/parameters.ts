import type { Tensor, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** The size of one matrix among the parameters of a model. */
export interface MatrixShape {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Extracts the matrices of k models from their parameters. The parameters are stored in one tensor, so that operations
 * on all parameters, such as a step of Adam, run at once.
 * @param values [k, m], the parameters of each model, matrix after matrix
 * @returns each matrix of all models, [k, rows, columns]. The result is differentiable
 */
export function splitParameters(values: Tensor2D, shapes: readonly MatrixShape[]): Tensor3D[] {
  const [k] = values.shape;
  let start = 0;
  return shapes.map(({ rows, columns }) => {
    const size = rows * columns;
    const part = values.slice([0, start], [k, size]).reshape<Tensor3D>([k, rows, columns]);
    start += size;
    return part;
  });
}

/** Joins matrices, or their gradients: the inverse of {@link splitParameters}. */
export function joinParameters(tf: Tf, parts: readonly Tensor[], models: number): Tensor2D {
  return tf.concat(
    parts.map((part) => part.reshape<Tensor2D>([models, -1])),
    1,
  );
}
