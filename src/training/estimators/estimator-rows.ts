import { takeValues } from '../../internal/values.ts';
import { DataValidationError, TrainingError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import type { FitRows } from '../data/fit-rows.ts';
import { type Matrix, type MatrixSource, readMatrix, takeMatrixRows } from '../data/read-matrix.ts';

/** Sums of weights beyond this leave no room for what they are multiplied by. */
const LARGEST_TOTAL = 1e300;

/**
 * The sum of weights.
 * @throws {DataValidationError} where no number holds it and what it is multiplied by
 */
export function totalOf(weights: Float64Array): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= LARGEST_TOTAL) return total;
  throw new DataValidationError(`sampleWeight sums to ${String(total)}, which is too large to compute with.`, {
    context: { argument: 'sampleWeight', total, largest: LARGEST_TOTAL },
    suggestion: 'Divide the weights by their mean.',
  });
}

/**
 * Weights in units of their mean, which float32 holds whatever the unit was. A
 * sum of losses with a penalty has its least value where it had it, if the
 * penalty is divided by the mean too.
 */
export function inUnitsOfMean(weights: Float64Array): { readonly weights: Float64Array; readonly mean: number } {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  return { weights: mean === 1 ? weights : weights.map((weight) => weight / mean), mean };
}

/**
 * The rows that have a weight: one of weight 0 is as good as left out.
 * @throws {DataValidationError} for weights that sum to too much
 */
export function weightedRows(rows: FitRows): FitRows {
  totalOf(rows.weights);
  if (!rows.weights.includes(0)) return rows;
  const kept = Int32Array.from([...rows.weights.keys()].filter((row) => rows.weights[row] !== 0));
  return { x: takeMatrixRows(rows.x, kept), y: takeValues(rows.y, kept), weights: takeValues(rows.weights, kept) };
}

/**
 * Reads rows to predict for.
 * @param features how many features the estimator was fitted on
 * @throws {DataValidationError} where the rows have another number of features
 */
export async function readPredictRows(source: MatrixSource, features: number): Promise<Matrix> {
  const matrix = await readMatrix(source);
  // No rows have no features either, and need none.
  if (matrix.columns === features || matrix.rows === 0) return matrix;
  throw new DataValidationError(
    `X has ${String(matrix.columns)} features, but the estimator was fitted on ${String(features)}.`,
    {
      context: { argument: 'X', features: matrix.columns, expected: features },
      suggestion: 'Give the columns that it was fitted on, in that order.',
    },
  );
}

/**
 * What was learned.
 * @throws {TrainingError} where nothing was
 */
export function fittedOr<Fit>(fit: Fit | undefined, className: string): Fit {
  if (fit !== undefined) return fit;
  throw new TrainingError(`This ${className} has not been fitted yet.`, {
    context: { estimator: className },
    suggestion: 'Await fit(X, y) first.',
  });
}

/** A value cut to [0, 1]. */
export function cutToUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/**
 * 1 where a score is at least the threshold, else 0.
 * @throws {ValueError} for a threshold that is NaN
 */
export function decide(scores: Float64Array, threshold: number): Uint8Array {
  if (Number.isNaN(threshold)) throw invalidParameter('threshold', 'be a number', threshold);
  const decisions = new Uint8Array(scores.length);
  for (let row = 0; row < scores.length; row++) decisions[row] = (scores[row] as number) >= threshold ? 1 : 0;
  return decisions;
}
