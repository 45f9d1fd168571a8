import type { Rank, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, TensorLike } from '../../table/index.ts';
import type { Tf } from '../../tensor/index.ts';
import { type DeviceColumn, readDeviceColumns } from './device-rows.ts';
import { assertRows, withoutWeight } from './fit-rows.ts';
import { isFixed } from './fixed-tensor.ts';

/** Training rows on the tensor backend, without missing values. */
export interface TensorFitRows {
  /** The features, [rows, columns] float32. */
  readonly x: Tensor2D;
  /** The targets, [rows] float32. */
  readonly y: Tensor1D;
  /** The smallest and the largest target. */
  readonly range: readonly [low: number, high: number];
  /** The weights, [rows] float32, 0 or more. All weights are 1 if no weights were given. */
  readonly weights: Tensor1D;
  readonly largestWeight: number;
  /** Whether some weights are 0. */
  readonly hasUnusedRows: boolean;
}

/**
 * Reads features, targets and weights on the device of the features. It reads back three numbers per argument.
 * @param keep disposes of the tensors that this function creates
 * @param must the requirement on targets
 * @throws {DataValidationError} if shapes or dtypes do not fit, if there are no rows, if values are missing or infinite,
 *   or if all weights are 0
 */
export async function readTensorFitRows(
  tf: Tf,
  keep: Keep,
  sources: { readonly x: TensorLike; readonly y: ColumnSource; readonly sampleWeight?: ColumnSource | undefined },
  must: 'binary' | 'unit' | 'finite',
): Promise<TensorFitRows> {
  const columns = await readDeviceColumns(tf, keep, {
    X: featureColumn(sources.x),
    y: { source: sources.y, must },
    sampleWeight: sources.sampleWeight === undefined ? undefined : { source: sources.sampleWeight, must: 'weight' },
  });
  const features = columns.X?.tensor as Tensor2D;
  const [rows] = features.shape;
  assertRows(rows);
  if (columns.sampleWeight?.max === 0) throw withoutWeight();
  return {
    x: features,
    y: columns.y?.tensor as Tensor1D,
    range: [columns.y?.min ?? NaN, columns.y?.max ?? NaN],
    weights: (columns.sampleWeight?.tensor as Tensor1D | undefined) ?? keep(tf.ones<Rank.R1>([rows])),
    largestWeight: columns.sampleWeight?.max ?? 1,
    hasUnusedRows: columns.sampleWeight?.min === 0,
  };
}

/** Returns features as a column to read. The values of a fixed tensor were checked before it was fixed. */
export function featureColumn(x: TensorLike): DeviceColumn {
  return { source: x, must: isFixed(x) ? 'any' : 'finite', rank: 2 };
}
