import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { TrainingError, ValueError } from '../../exceptions/index.ts';
import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { isDeviceTensor } from '../../table/index.ts';
import { currentTensorflow, type Tf } from '../../tensor/index.ts';
import { FixedMatrix, type Matrix, type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import { readPredictTensor } from '../estimators/estimator-rows.ts';
import { type Estimator, isTensorEstimator, type TensorEstimator } from '../estimators/estimator.ts';
import { pause } from '../estimators/pause.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import type { OracleRows, TensorOracleRows } from './reduction-problem.ts';

/**
 * The kind of predictions. `decisions` are 0 or 1. `shares` are decisions or, if an estimator has no decision
 * threshold, probabilities. `values` are arbitrary numbers.
 */
export type PredictionKind = 'decisions' | 'shares' | 'values';

/** The decision threshold. Values that are at least this threshold become the decision 1. */
export const THRESHOLD = 0.5;

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
  throw badPrediction(kind, given[index] as number, index);
}

/**
 * Returns a predictor's predictions as a tensor, [rows] float32, under the same rules as {@link askPredictions}. It
 * reads four numbers. The caller disposes of the tensor.
 */
export async function askTensorPredictions(
  tf: Tf,
  predictor: Estimator,
  x: Tensor2D,
  kind: PredictionKind,
): Promise<Tensor1D> {
  if (!isTensorEstimator(predictor)) throw withoutTensors(predictor);
  const own = await predictor.predictTensor(x);
  const isAsked = kind !== 'values' && !(await firstBad(tf, own, 'decisions')).isNone;
  const given = isAsked ? await predictor.predictTensor(x, { threshold: THRESHOLD }) : own;
  if (isAsked) own.dispose();
  const { isNone, index, value } = await firstBad(tf, given, kind);
  if (isNone) return given;
  given.dispose();
  throw badPrediction(kind, value, index);
}

/**
 * Returns a predictor's predictions, [rows]. If X is a tensor, its rows stay on their device, and only the predictions
 * are read.
 * @throws {TrainingError} as {@link askPredictions}
 */
export async function readPredictions(
  predictor: Estimator,
  X: MatrixSource,
  kind: PredictionKind,
): Promise<Uint8Array | Float64Array> {
  if (!isDeviceTensor(X)) return askPredictions(predictor, await readMatrix(X), kind);
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const x = await readPredictTensor(tf, keep, X);
    const values = await keep(await askTensorPredictions(tf, predictor, x, kind)).data();
    return kind !== 'values' && values.every(isDecision) ? Uint8Array.from(values) : Float64Array.from(values);
  });
}

/** Returns the first prediction that is not valid. */
async function firstBad(
  tf: Tf,
  predictions: Tensor1D,
  kind: PredictionKind,
): Promise<{ isNone: boolean; index: number; value: number }> {
  if (predictions.size === 0) return { isNone: true, index: 0, value: NaN };
  const found = tf.tidy(() => {
    const isValid =
      kind === 'decisions'
        ? tf.logicalOr(predictions.equal(0), predictions.equal(1))
        : tf.logicalAnd(tf.isFinite(predictions), tf.logicalNot(tf.isNaN(predictions)));
    const valid = isValid.cast<Tensor1D>('float32');
    const index = valid.argMin().reshape<Tensor1D>([1]).cast<Tensor1D>('int32');
    // The shape of a minimum is [] or [1], depending on the backend.
    return tf.concat([valid.min().reshape<Tensor1D>([1]), index.cast('float32'), predictions.gather(index)]);
  });
  try {
    const [isNone, index = 0, value = NaN] = await found.data();
    return { isNone: isNone === 1, index, value };
  } finally {
    found.dispose();
  }
}

/** Returns the error for an estimator that cannot compute on tensors. */
export function withoutTensors(estimator: Estimator): ValueError {
  const name = estimator.constructor.name;
  return new ValueError(`The estimator (${name}) computes on the host, but the rows are tensors.`, {
    context: { parameter: 'estimator', estimator: name, expected: 'an estimator with fitsTensors and predictTensor' },
    suggestion:
      "Use LogisticRegression or LinearRegression with precision 'float32', or set precision to 'float64' in the reduction, which reads the tensors to the host once.",
  });
}

function badPrediction(kind: PredictionKind, value: number, index: number): TrainingError {
  const wanted = kind === 'decisions' ? '0 or 1' : 'a finite number';
  return new TrainingError(`The estimator predicted ${String(value)} at index ${String(index)}, not ${wanted}.`, {
    context: { index, value },
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
interface Answer<Predictions> {
  readonly predictor: Estimator;
  /** The predictions, [rows]. */
  readonly predictions: Predictions;
  /** Whether all rows had the same label. If all rows had the same label, no learner was fitted. */
  readonly isConstant: boolean;
  /** Frees the predictions, if they need it. */
  readonly release?: () => void;
}

/**
 * Fits a learner to relabelled, reweighted rows. This function is the black box of the reductions. `startFrom` is a
 * predictor that was fitted to similar rows. If `scaledTo` is given, weights are scaled to this total, because the
 * effect of the penalty of an ordinary learner depends on the sum of weights.
 */
export type Oracle<Rows, Predictions> = (
  rows: Rows,
  startFrom: Estimator | undefined,
  scaledTo?: number,
) => Promise<Answer<Predictions>>;

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

/** Creates an oracle that fits copies of an estimator on the host. */
export function createOracle({
  estimator,
  x: given,
  predicts,
  signal,
}: OracleParts): Oracle<OracleRows, ArrayLike<number>> {
  const x = given instanceof FixedMatrix ? given : new FixedMatrix(given);
  return async (rows, startFrom, scaledTo) => {
    // A learner that never yields control would prevent an abort signal from arriving.
    await pause(signal);
    const { targets, weights, onlyLabel } = scaledTo === undefined ? rows : rescale(rows, scaledTo);
    assertFinite(weights);
    const isConstant = onlyLabel !== null;
    const predictor = isConstant
      ? new ConstantClassifier(onlyLabel)
      : await estimator.clone().fit(x, targets, { sampleWeight: weights, startFrom, signal });
    return { predictor, predictions: await askPredictions(predictor, x, predicts), isConstant };
  };
}

/** The parts of an oracle on the device. */
interface TensorOracleParts extends Omit<OracleParts, 'estimator' | 'x'> {
  readonly estimator: TensorEstimator;
  /** The features, [rows, columns] float32. */
  readonly x: Tensor2D;
}

/**
 * Creates an oracle that fits copies of an estimator to tensors. Targets, weights and predictions stay on the device.
 */
export function createTensorOracle(
  tf: Tf,
  { estimator, x, predicts, signal }: TensorOracleParts,
): Oracle<TensorOracleRows, Tensor1D> {
  return async ({ targets, weights, total, onlyLabel }, startFrom, scaledTo) =>
    withTensors(tf, async (keep) => {
      keep(targets);
      keep(weights);
      await pause(signal);
      assertFiniteTotal(total <= LARGEST_FLOAT32 ? total : Infinity);
      const sampleWeight = scaledTo === undefined || total === 0 ? weights : keep(weights.mul(scaledTo / total));
      const isConstant = onlyLabel !== null;
      const predictor = isConstant
        ? new ConstantClassifier(onlyLabel)
        : await (estimator.clone() as TensorEstimator).fit(x, targets, { sampleWeight, startFrom, signal });
      const predictions = await askTensorPredictions(tf, predictor, x, predicts);
      const release = (): void => {
        predictions.dispose();
      };
      return { predictor, predictions, isConstant, release };
    });
}

/** The largest sum of weights that float32 represents. */
const LARGEST_FLOAT32 = 3e38;

/** Rescales weights to a given total. */
export function rescale(rows: OracleRows, total: number): OracleRows {
  const sum = rows.weights.reduce((running, weight) => running + weight, 0);
  // If all weights are 0, the rows have only one label, and no learner is fitted.
  if (sum === 0) return rows;
  const factor = total / sum;
  return { ...rows, weights: rows.weights.map((weight) => weight * factor) };
}

function assertFinite(weights: Float64Array): void {
  assertFiniteTotal(weights.reduce((sum, weight) => sum + weight, 0));
}

/** @throws {TrainingError} if the sum of weights is not finite */
export function assertFiniteTotal(total: number): void {
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
