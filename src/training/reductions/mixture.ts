import { createRandom, mix } from '../../internal/random.ts';
import type { Matrix } from '../data/read-matrix.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { absorb, uniformOf } from '../murmur-hash.ts';
import { askPredictions, type PredictionKind } from './oracle.ts';
import { cut, type LossRange } from './constraint-names.ts';

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
  for (const { weight, predictions } of await predictAll(mixture, x)) {
    for (let row = 0; row < means.length; row++) {
      (means[row] as number) += weight * cut(predictions[row] as number, range);
    }
  }
  // Because of rounding, weights may sum to 1 + 1e-16.
  return means.map((mean) => cut(mean, range));
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
  const parts = await predictAll(mixture, x);
  return Float64Array.from({ length: x.rows }, (_, row) => {
    let left = uniform(row);
    const part = parts.find(({ weight }) => (left -= weight) < 0) ?? parts.at(-1);
    return part?.predictions[row] as number;
  });
}

/** Returns a function that returns a random number in [0, 1) for each row. The numbers depend on the seed. */
export function uniformsFor(x: Matrix, randomization: Randomization, seed: number): (row: number) => number {
  if (randomization === 'row') return rowUniforms(x.values, x.columns, seed);
  const random = createRandom(seed);
  return () => random.next();
}

async function predictAll(
  { predictors, weights, predicts }: Mixture,
  x: Matrix,
): Promise<{ weight: number; predictions: ArrayLike<number> }[]> {
  const parts = [];
  for (const [index, predictor] of predictors.entries()) {
    const weight = weights[index] as number;
    if (weight > 0) parts.push({ weight, predictions: await askPredictions(predictor, x, predicts) });
  }
  return parts;
}
