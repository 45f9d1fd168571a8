import { TrainingError } from '../../exceptions/index.ts';
import type { Matrix } from '../data/read-matrix.ts';
import type { Estimator } from '../estimators/estimator.ts';
import type { ConstraintSettings } from './constraint-options.ts';

/**
 * The kind of predictions. `decisions` are 0 or 1. `shares` are decisions or, if an estimator has no threshold,
 * probabilities of decisions. `values` are arbitrary numbers.
 */
export type PredictionKind = 'decisions' | 'shares' | 'values';

/** Values of at least this threshold become the decision 1. */
const THRESHOLD = 0.5;

/** Returns the kind of predictions that a constraint needs. */
export function predictionKind(settings: ConstraintSettings): PredictionKind {
  if (settings.constraint !== 'bounded_group_loss') return 'decisions';
  return settings.loss === 'zero_one' ? 'shares' : 'values';
}

/**
 * Returns a predictor's predictions for rows: [rows]. A classifier returns its own decisions. If decisions are required
 * but the predictor returns other values, it is called again with a threshold of 0.5.
 * @throws {TrainingError} if a prediction is not a finite number, or is not 0 or 1 although decisions are required
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
