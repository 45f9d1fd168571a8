import { TrainingError } from '../../exceptions/index.ts';
import { FixedMatrix, type Matrix } from '../data/read-matrix.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { pause } from '../estimators/pause.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import type { OracleRows } from './reduction-problem.ts';

/**
 * The kind of predictions. `decisions` are 0 or 1. `shares` are decisions or, if an estimator has no decision
 * threshold, probabilities. `values` are arbitrary numbers.
 */
export type PredictionKind = 'decisions' | 'shares' | 'values';

/** The decision threshold. Values that are at least this threshold become the decision 1. */
const THRESHOLD = 0.5;

/** Returns the kind of predictions that a constraint needs. */
export function predictionKind(settings: ConstraintSettings): PredictionKind {
  if (settings.constraint !== 'bounded_group_loss') return 'decisions';
  return settings.loss === 'zero_one' ? 'shares' : 'values';
}

/**
 * Returns a predictor's predictions for rows: [rows]. A classifier returns its own decisions. If
 * decisions are required but the predictor returns other values, it is called again with a threshold of 0.5.
 * @throws {TrainingError} if a prediction is not a finite number, or if it is not 0 or 1 although decisions are
 *   required
 */
export async function askPredictions(
  predictor: Estimator,
  x: Matrix,
  kind: PredictionKind,
): Promise<Uint8Array | Float64Array> {
  const own = await predictor.predict(x);
  const given = kind === 'values' || own.every(isDecision) ? own : await predictor.predict(x, { threshold: THRESHOLD });
  const index = given.findIndex((value) => !(kind === 'decisions' ? isDecision(value) : Number.isFinite(value)));
  if (index < 0) return given;
  const wanted = kind === 'decisions' ? '0 or 1' : 'a finite number';
  throw new TrainingError(`The estimator predicted ${String(given[index])} at index ${String(index)}, not ${wanted}.`, {
    context: { index, value: given[index] },
    suggestion:
      kind === 'decisions'
        ? 'Pass an estimator whose predict respects { threshold }, or returns 0 and 1.'
        : 'Check what the estimator learned, and standardise the features.',
  });
}

function isDecision(value: number): boolean {
  return value === 0 || value === 1;
}

/** A predictor with its predictions on the training rows. */
interface Answer {
  readonly predictor: Estimator;
  /** The predictions, [rows]. */
  readonly predictions: ArrayLike<number>;
  /** Whether all rows had the same label. If all rows had the same label, no learner was fitted. */
  readonly isConstant: boolean;
}

/**
 * Fits a learner to relabelled and reweighted rows. The reductions call this function without knowing how the learner
 * works. `startFrom` is a predictor that was fitted to similar rows.
 */
export type Oracle = (rows: OracleRows, startFrom: Estimator | undefined) => Promise<Answer>;

/** The parts of an oracle. */
interface OracleParts {
  /** The estimator that is cloned for every call. */
  readonly estimator: Estimator;
  /** The features. The caller must not change them while the oracle is in use. */
  readonly x: Matrix;
  readonly predicts: PredictionKind;
  /** A signal that stops the work between two calls, and during a call if the estimator supports this. */
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

/** Rescales weights to a given total, because the effect of a learner's penalty depends on the sum of the weights. */
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
 * Returns the predictor whose multipliers are nearest to the given multipliers. It was fitted to the most similar rows,
 * so a fit that starts from it converges fast.
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
