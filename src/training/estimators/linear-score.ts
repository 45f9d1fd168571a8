import type { Matrix } from '../data/matrix.ts';
import { sigmoid } from '../logistic.ts';
import type { LinearScore } from './fitting/fit-linear-model.ts';

/** X b + b0 for each row, in float64. */
export function linearScores(
  { rows, columns, values }: Matrix,
  { coefficients, intercept }: LinearScore,
): Float64Array {
  const scores = new Float64Array(rows);
  for (let row = 0, place = 0; row < rows; row++) {
    let sum = intercept;
    for (let column = 0; column < columns; column++, place++) {
      sum += (values[place] as number) * (coefficients[column] as number);
    }
    scores[row] = sum;
  }
  return scores;
}

/** 1 / (1 + exp(-z)) of each score. */
export function sigmoids(scores: Float64Array): Float64Array {
  return scores.map(sigmoid);
}
