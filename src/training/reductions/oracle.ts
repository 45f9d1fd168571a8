import { TrainingError } from '../../exceptions/index.ts';
import { FixedMatrix, type Matrix } from '../data/read-matrix.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { pause } from '../estimators/pause.ts';
import { askPredictions, type PredictionKind } from './ask-predictions.ts';
import type { OracleRows } from './reduction-problem.ts';

/** A predictor and what it says of the training rows. */
interface Answer {
  readonly predictor: Estimator;
  /** [rows] */
  readonly predictions: ArrayLike<number>;
  /** Whether the rows had one label only, so that nothing was learned. */
  readonly isConstant: boolean;
}

/**
 * Learns from relabelled, reweighted rows: the reductions' black box.
 * `startFrom` is a predictor that it learned from like rows.
 */
export type Oracle = (rows: OracleRows, startFrom: Estimator | undefined) => Promise<Answer>;

/** What an oracle is made of. */
export interface OracleParts {
  /** Cloned for every call. */
  readonly estimator: Estimator;
  /** Not to be changed while the oracle is in use. */
  readonly x: Matrix;
  readonly predicts: PredictionKind;
  /** Stops between calls, and calls that listen. */
  readonly signal: AbortSignal | undefined;
}

/** An oracle that fits copies of an estimator. */
export function createOracle({ estimator, x: given, predicts, signal }: OracleParts): Oracle {
  const x = new FixedMatrix(given);
  return async ({ targets, weights, onlyLabel }, startFrom) => {
    // Learners that never wait would keep a signal from coming.
    await pause(signal);
    assertFinite(weights);
    const isConstant = onlyLabel !== null;
    const predictor = isConstant
      ? new ConstantClassifier(onlyLabel)
      : await estimator.clone().fit(x, targets, { sampleWeight: weights, startFrom, signal });
    return { predictor, predictions: await askPredictions(predictor, x, predicts), isConstant };
  };
}

/** Rows whose weights sum to a total: ordinary learners weigh their penalties against that sum. */
export function rescale(rows: OracleRows, total: number): OracleRows {
  const sum = rows.weights.reduce((running, weight) => running + weight, 0);
  // Rows that cost nothing either way have one label, and no learner sees them.
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

/** Returns the predictor learned at the nearest multipliers: its rows were the most similar, so that a fit starts near its end. */
export function nearestPredictor(
  learned: readonly { readonly multipliers: Float64Array; readonly predictor: Estimator }[],
  multipliers: Float64Array,
): Estimator | undefined {
  let found: Estimator | undefined;
  let least = Infinity;
  for (const { predictor, multipliers: other } of learned) {
    const distance = multipliers.reduce((sum, value, index) => sum + Math.abs(value - (other[index] as number)), 0);
    if (distance < least) [found, least] = [predictor, distance];
  }
  return found;
}
