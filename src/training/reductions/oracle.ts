import { TrainingError } from '../../exceptions/index.ts';
import { FixedMatrix, type Matrix } from '../data/read-matrix.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { pause } from '../estimators/pause.ts';
import { askPredictions, type PredictionKind } from './ask-predictions.ts';
import type { OracleRows } from './reduction-problem.ts';

/** A predictor with its predictions on the training rows. */
interface Answer {
  readonly predictor: Estimator;
  /** [rows] */
  readonly predictions: ArrayLike<number>;
  /** Whether the rows had only one label, so that no learner was fitted. */
  readonly isConstant: boolean;
}

/**
 * Fits a learner to relabelled, reweighted rows. This function is the black box of the reductions. `startFrom` is a
 * predictor that was fitted to similar rows.
 */
export type Oracle = (rows: OracleRows, startFrom: Estimator | undefined) => Promise<Answer>;

/** The parts of an oracle. */
export interface OracleParts {
  /** The estimator that is cloned for every call. */
  readonly estimator: Estimator;
  /** The features. The caller must not change them while the oracle is in use. */
  readonly x: Matrix;
  readonly predicts: PredictionKind;
  /** Stops the work between calls, and within calls that support it. */
  readonly signal: AbortSignal | undefined;
}

/** Creates an oracle that fits copies of an estimator. */
export function createOracle({ estimator, x: given, predicts, signal }: OracleParts): Oracle {
  const x = new FixedMatrix(given);
  return async ({ targets, weights, onlyLabel }, startFrom) => {
    // A learner that never yields control would prevent an abort signal from arriving.
    await pause(signal);
    assertFinite(weights);
    const isConstant = onlyLabel !== null;
    const predictor = isConstant
      ? new ConstantClassifier(onlyLabel)
      : await estimator.clone().fit(x, targets, { sampleWeight: weights, startFrom, signal });
    return { predictor, predictions: await askPredictions(predictor, x, predicts), isConstant };
  };
}

/** Rescales weights to a given total, because ordinary learners balance their penalties against the sum of weights. */
export function rescale(rows: OracleRows, total: number): OracleRows {
  const sum = rows.weights.reduce((running, weight) => running + weight, 0);
  // If all weights are 0, the rows have only one label, and no learner is fitted.
  if (sum === 0) return rows;
  const factor = total / sum;
  return { ...rows, weights: rows.weights.map((weight) => weight * factor) };
}

function assertFinite(weights: Float64Array): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (Number.isFinite(total)) return;
  throw new TrainingError('The sum of costs and multipliers times sample weights is not finite.', {
    context: { total },
    suggestion: 'Lower the multipliers (gridLimit, grid, or 1 / eps), costs, classWeight or sampleWeight.',
  });
}

/**
 * Returns the predictor that was fitted at the nearest multipliers. It was fitted to the most similar rows, so a fit
 * that starts from it converges fast.
 */
export function nearestPredictor(
  learned: readonly { readonly multipliers: Float64Array; readonly predictor: Estimator }[],
  multipliers: Float64Array,
): Estimator | undefined {
  let found: Estimator | undefined;
  let min = Infinity;
  for (const { predictor, multipliers: other } of learned) {
    const distance = multipliers.reduce((sum, value, index) => sum + Math.abs(value - (other[index] as number)), 0);
    if (distance < min) [found, min] = [predictor, distance];
  }
  return found;
}
