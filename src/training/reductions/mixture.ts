import type { Rank, Tensor1D } from '@tensorflow/tfjs';

import { ValueError } from '../../exceptions/index.ts';
import { createRandom, mix } from '../../internal/random.ts';
import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { isDeviceTensor, type TensorLike } from '../../table/index.ts';
import { currentTensorflow, floorFloat32 } from '../../tensor/index.ts';
import { requireTensor } from '../data/device-rows.ts';
import { withFixedTensor } from '../data/fixed-tensor.ts';
import type { Matrix } from '../data/read-matrix.ts';
import { readPredictTensor } from '../estimators/estimator-rows.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { absorb, uniformOf } from '../murmur-hash.ts';
import { cut, type LossRange } from './constraint-names.ts';
import { askPredictions, askTensorPredictions, type PredictionKind } from './oracle.ts';

/**
 * Derives a number in [0, 1) from a row of features and a seed. The number does not depend on the row's position or on
 * the other rows. Two MurmurHash3 streams over the bits of the float64 values give 53 bits. Rows with equal values get
 * equal numbers.
 */
function rowUniforms(values: ArrayLike<number>, columns: number, seed: number): (row: number) => number {
  const number = new Float64Array(1);
  const halves = new Uint32Array(number.buffer);
  return (row) => {
    let a = mix(seed ^ 0x9e3779b9);
    let b = mix(seed ^ 0x85ebca6b);
    for (let index = row * columns; index < (row + 1) * columns; index++) {
      // Adding 0 turns -0 into 0, so that both values have the same hash.
      number[0] = (values[index] as number) + 0;
      const [low, high] = [halves[0] as number, halves[1] as number];
      a = absorb(absorb(a, low), high);
      b = absorb(absorb(b, high), low);
    }
    return uniformOf(mix(a ^ columns), mix(b ^ columns));
  };
}

/**
 * How rows get random numbers: `draw` draws a number for each row and call, and `row` derives the number from the row's
 * features.
 */
export type Randomization = 'draw' | 'row';

/** All values of {@link Randomization}. */
export const RANDOMIZATIONS: readonly Randomization[] = ['draw', 'row'];

/** Predictors and their probabilities. Predictors with probability 0 are never called. */
export interface Mixture {
  readonly predictors: readonly Estimator[];
  /** The probabilities, which sum to 1. */
  readonly weights: readonly number[];
  readonly predicts: PredictionKind;
}

/** Computes the sum over predictors of weight x prediction, [rows]. Each prediction is clipped to the range. */
export async function mixtureMeans(mixture: Mixture, x: Matrix, range: LossRange): Promise<Float64Array> {
  const means = new Float64Array(x.rows);
  for (const { weight, predictor } of partsOf(mixture)) {
    const predictions = await askPredictions(predictor, x, mixture.predicts);
    for (let row = 0; row < means.length; row++) {
      (means[row] as number) += weight * cut(predictions[row] as number, range);
    }
  }
  // Because of rounding, weights may sum to 1 + 1e-16.
  return means.map((mean) => cut(mean, range));
}

/** Computes {@link mixtureMeans} on the device of X: [rows] float32. The caller disposes of the result. */
export async function tensorMeans(mixture: Mixture, X: TensorLike, [low, high]: LossRange): Promise<Tensor1D> {
  const tf = currentTensorflow();
  const clip = (values: Tensor1D): Tensor1D => tf.clipByValue(values, low, high);
  const sum = await sumOnDevice(mixture, X, ({ weight }, predictions) => clip(predictions).mul(weight));
  try {
    return clip(sum);
  } finally {
    sum.dispose();
  }
}

/**
 * Returns for each row, [rows], the prediction of a randomly drawn predictor. Predictors are drawn with their
 * probabilities.
 */
export async function mixtureDraws(
  mixture: Mixture,
  x: Matrix,
  uniform: (row: number) => number,
): Promise<Float64Array> {
  const picks = drawParts(mixture, x.rows, uniform);
  const predictions: ArrayLike<number>[] = [];
  for (const { predictor } of partsOf(mixture)) predictions.push(await askPredictions(predictor, x, mixture.predicts));
  return Float64Array.from(picks, (pick, row) => predictions[pick]?.[row] as number);
}

/**
 * Draws predictions on the device of X, [rows] float32: for values like {@link mixtureDraws}; otherwise decisions, which
 * are 1 with the probability of {@link tensorMeans}. The caller disposes of the result.
 */
export async function tensorDraws(
  mixture: Mixture,
  X: TensorLike,
  uniform: (row: number) => number,
): Promise<Tensor1D> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const [rows = 0] = requireTensor(X, 'X').shape;
    if (mixture.predicts === 'values') {
      const picked = keep(tf.tensor1d(Float32Array.from(drawParts(mixture, rows, uniform))));
      return sumOnDevice(mixture, X, ({ index }, predictions) =>
        predictions.mul(picked.equal(index).cast<Tensor1D>('float32')),
      );
    }
    const probabilities = keep(await tensorMeans(mixture, X, [0, 1]));
    const drawn = keep(tf.tensor1d(Float32Array.from({ length: rows }, (_, row) => floorFloat32(uniform(row)))));
    return tf.tidy(() => drawn.less(probabilities).cast<Tensor1D>('float32'));
  });
}

/** Draws the predictor of each row: its index among the predictors that are called. */
function drawParts(mixture: Mixture, rows: number, uniform: (row: number) => number): Int32Array {
  const parts = partsOf(mixture);
  return Int32Array.from({ length: rows }, (_, row) => {
    let left = uniform(row);
    const picked = parts.findIndex(({ weight }) => (left -= weight) < 0);
    return picked < 0 ? parts.length - 1 : picked;
  });
}

/** Adds up a term per predictor on the device. The caller disposes of the sum. */
async function sumOnDevice(
  mixture: Mixture,
  X: TensorLike,
  term: (part: Part, predictions: Tensor1D) => Tensor1D,
): Promise<Tensor1D> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const checked = await readPredictTensor(tf, keep, X);
    return withFixedTensor(checked, async (x) => {
      let sum = tf.zeros<Rank.R1>([x.shape[0]]);
      try {
        for (const part of partsOf(mixture)) {
          const predictions = await askTensorPredictions(tf, part.predictor, x, mixture.predicts);
          const before = sum;
          sum = tf.tidy(() => before.add<Tensor1D>(term(part, predictions)));
          tf.dispose([before, predictions]);
        }
        return sum;
      } catch (error) {
        sum.dispose();
        throw error;
      }
    });
  });
}

/**
 * Returns a function that returns a number in [0, 1) for each row, based on the seed.
 * @throws {ValueError} if the numbers depend on features that are a tensor
 */
export function uniformsFor(
  x: Matrix | TensorLike,
  randomization: Randomization,
  seed: number,
): (row: number) => number {
  if (randomization === 'row') {
    if (isDeviceTensor(x)) throw onTensors();
    return rowUniforms(x.values, x.columns, seed);
  }
  const random = createRandom(seed);
  return () => random.next();
}

/** A predictor that is called. */
interface Part {
  /** The index among the predictors that are called. */
  readonly index: number;
  readonly predictor: Estimator;
  readonly weight: number;
}

function partsOf({ predictors, weights }: Mixture): Part[] {
  return predictors
    .map((predictor, index) => ({ predictor, weight: weights[index] as number }))
    .filter(({ weight }) => weight > 0)
    .map((part, index) => ({ ...part, index }));
}

function onTensors(): ValueError {
  return new ValueError("The randomization 'row' hashes features on the host, but X is a tensor.", {
    context: { parameter: 'randomization', expected: 'draw', received: 'row' },
    suggestion: "Set randomization to 'draw', or read the features first, as in predict(await X.array()).",
  });
}
