import { TrainingError } from '../../exceptions/index.ts';
import type { Matrix } from '../data/read-matrix.ts';
import type { Estimator } from '../estimators/estimator.ts';
import type { ConstraintSettings } from './constraint-options.ts';

/** Decisions 0 and 1; those or, where an estimator knows no threshold, their probabilities; or values. */
export type PredictionKind = 'decisions' | 'shares' | 'values';

/** Values of at least this are decisions for 1. */
const THRESHOLD = 0.5;

/** What a constraint takes predictions for. */
export function predictionKind(settings: ConstraintSettings): PredictionKind {
  if (settings.constraint !== 'bounded_group_loss') return 'decisions';
  return settings.loss === 'zero_one' ? 'shares' : 'values';
}

/**
 * What a predictor says of rows: [rows]. A classifier is asked for its own
 * decisions; one that gives values is asked again, for decisions at 0.5, where
 * values are no answer.
 * @throws {TrainingError} where it gives no finite number, or values in place of decisions
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
        ? 'Give an estimator whose predict heeds { threshold }, or gives 0 and 1.'
        : 'Look at what the estimator learned, and standardise the features.',
  });
}

function isDecision(value: number): boolean {
  return value === 0 || value === 1;
}
