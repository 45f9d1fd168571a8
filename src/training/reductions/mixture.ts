import { createRandom } from '../../internal/random.ts';
import type { Matrix } from '../data/matrix.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { askPredictions, type PredictionKind } from './ask-predictions.ts';
import { cut, type LossRange } from './group-loss.ts';
import { rowUniforms } from './row-uniform.ts';

/** How chance is shared out: anew for each row and call, or once and for all by the row's features. */
export type Randomization = 'draw' | 'row';

/** Every way to share out chance. */
export const RANDOMIZATIONS: readonly Randomization[] = ['draw', 'row'];

/** Predictors and their probabilities; those of probability 0 are never asked. */
export interface Mixture {
  readonly predictors: readonly Estimator[];
  /** Sum 1. */
  readonly weights: readonly number[];
  readonly predicts: PredictionKind;
}

/** [rows] sum over predictors of weight x prediction, each cut to the range. */
export async function mixtureMeans(mixture: Mixture, x: Matrix, range: LossRange): Promise<Float64Array> {
  const means = new Float64Array(x.rows);
  for (const { weight, predictions } of await predictAll(mixture, x)) {
    for (let row = 0; row < means.length; row++) {
      (means[row] as number) += weight * cut(predictions[row] as number, range);
    }
  }
  // Weights may sum to 1 + 1e-16.
  return means.map((mean) => cut(mean, range));
}

/** [rows] the prediction of one predictor, picked for each row by its probability. */
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

/** [rows] numbers in [0, 1), by seed. */
export function uniformsFor(x: Matrix, randomization: Randomization, seed: number): (row: number) => number {
  if (randomization === 'row') return rowUniforms(x.values, x.columns, seed);
  const random = createRandom(seed);
  return () => random.next();
}

interface Part {
  readonly weight: number;
  readonly predictions: ArrayLike<number>;
}

async function predictAll({ predictors, weights, predicts }: Mixture, x: Matrix): Promise<Part[]> {
  const parts: Part[] = [];
  for (const [index, predictor] of predictors.entries()) {
    const weight = weights[index] as number;
    if (weight > 0) parts.push({ weight, predictions: await askPredictions(predictor, x, predicts) });
  }
  return parts;
}
