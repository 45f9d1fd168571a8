import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { takeValues } from '../../internal/values.ts';
import { DataValidationError, TrainingError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import type { TensorLike } from '../../table/index.ts';
import type { Tf } from '../../tensor/index.ts';
import { readDeviceColumns, requireTensor } from '../data/device-rows.ts';
import type { FitRows } from '../data/fit-rows.ts';
import { featureColumn } from '../data/tensor-fit-rows.ts';
import { type Matrix, type MatrixSource, readMatrix, takeMatrixRows } from '../data/read-matrix.ts';

/** The maximum sum of weights. If the sum is larger, products of the sum may overflow. */
const LARGEST_TOTAL = 1e300;

/**
 * Returns the sum of weights.
 * @throws {DataValidationError} if the sum is so large that products of the sum may overflow
 */
export function totalOf(weights: Float64Array): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= LARGEST_TOTAL) return total;
  throw new DataValidationError(`sampleWeight sums to ${String(total)}, which is too large for float64 calculations.`, {
    code: 'data-too-large',
    context: { argument: 'sampleWeight', total, largest: LARGEST_TOTAL },
    suggestion: 'Divide the weights by their mean.',
  });
}

/**
 * Divides weights by their mean, so that float32 can represent the weights. If the penalty is divided by the same mean,
 * the penalised loss has the same minimum.
 */
export function inUnitsOfMean(weights: Float64Array): { readonly weights: Float64Array; readonly mean: number } {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  return { weights: mean === 1 ? weights : weights.map((weight) => weight / mean), mean };
}

/**
 * Returns the rows with a weight above 0. A row with weight 0 is treated as excluded.
 * @throws {DataValidationError} if the sum of weights is too large
 */
export function weightedRows(rows: FitRows): FitRows {
  totalOf(rows.weights);
  if (!rows.weights.includes(0)) return rows;
  const kept = Int32Array.from([...rows.weights.keys()].filter((row) => rows.weights[row] !== 0));
  return { x: takeMatrixRows(rows.x, kept), y: takeValues(rows.y, kept), weights: takeValues(rows.weights, kept) };
}

/**
 * Reads the rows for prediction.
 * @param features the number of features in `fit`
 * @throws {DataValidationError} if the number of features differs from the number in `fit`
 */
export async function readPredictRows(source: MatrixSource, features: number): Promise<Matrix> {
  const matrix = await readMatrix(source);
  assertFeatureCount([matrix.rows, matrix.columns], features);
  return matrix;
}

/**
 * Reads the rows for prediction on the device of a tensor, [rows, features] float32.
 * @param keep disposes of the tensors that this function creates
 * @param features the number of features in `fit`; unchecked if omitted
 * @throws {DataValidationError} if the tensor has another shape or dtype, or holds a value that is not finite
 */
export async function readPredictTensor(tf: Tf, keep: Keep, source: TensorLike, features?: number): Promise<Tensor2D> {
  requireTensor(source, 'X');
  const { X } = await readDeviceColumns(tf, keep, { X: featureColumn(source) });
  const tensor = X?.tensor as Tensor2D;
  if (features !== undefined) assertFeatureCount(tensor.shape, features);
  return tensor;
}

/**
 * Checks the size of a matrix for prediction.
 * @throws {DataValidationError} if the number of features differs from the number in `fit`
 */
export function assertFeatureCount([rows, columns]: readonly [number, number], features: number): void {
  // An empty matrix has no columns and needs no columns.
  if (columns === features || rows === 0) return;
  throw new DataValidationError(
    `X has ${String(columns)} features, but the estimator was fitted on ${String(features)}.`,
    {
      code: 'length-mismatch',
      context: { argument: 'X', features: columns, expected: features },
      suggestion: 'Pass the same columns as in fit, in the same order.',
    },
  );
}

/**
 * Returns the fitted state.
 * @throws {TrainingError} if there is no fitted state
 */
export function fittedOr<Fit>(fit: Fit | undefined, className: string): Fit {
  if (fit !== undefined) return fit;
  throw new TrainingError(`This ${className} has not been fitted yet.`, {
    context: { estimator: className },
    suggestion: 'Await fit(X, y) first.',
  });
}

/** Checks that the weight of an L2 penalty is finite and 0 or more, and returns the weight. */
export function requirePenalty(l2: number): number {
  if (l2 >= 0 && l2 < Infinity) return l2;
  throw invalidParameter('l2', 'be 0 or more', l2);
}

/** Clips a value to [0, 1]. */
export function cutToUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/**
 * Returns 1 for scores that are at least the threshold, and 0 for other scores.
 * @throws {ValueError} if the threshold is NaN
 */
export function decide(scores: Float64Array | Float32Array, threshold: number): Uint8Array {
  assertThreshold(threshold);
  const decisions = new Uint8Array(scores.length);
  for (let row = 0; row < scores.length; row++) decisions[row] = (scores[row] as number) >= threshold ? 1 : 0;
  return decisions;
}

/** Returns the decisions of {@link decide} as a float32 tensor, and disposes of the scores. */
export function decideTensor(tf: Tf, scores: Tensor1D, threshold: number): Tensor1D {
  try {
    assertThreshold(threshold);
    return tf.tidy(() => scores.greaterEqual(threshold).cast<Tensor1D>('float32'));
  } finally {
    scores.dispose();
  }
}

function assertThreshold(threshold: number): void {
  if (Number.isNaN(threshold)) throw invalidParameter('threshold', 'be a number', threshold);
}
