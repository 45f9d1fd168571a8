import { PRECISION } from './precision.ts';

/** How much of the error's standard error a gap may be. */
const SHARE = 0.5;

/**
 * The duality gap below which more search is noise: half the standard error of
 * mean |y - h|. A row of weight 2 counts as two; where weights sum to less than
 * the rows are worth, (sum w)^2 / sum w^2 is their number.
 */
export function automaticGap(targets: Float64Array, weights: Float64Array, predictions: ArrayLike<number>): number {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  // In units of the largest weight, whose square is 1: those of 1e200 have none.
  let [total, units, squares, sum] = [0, 0, 0, 0];
  for (let row = 0; row < targets.length; row++) {
    const weight = weights[row] as number;
    total += weight;
    units += weight / largest;
    squares += (weight / largest) ** 2;
    sum += weight * Math.abs((targets[row] as number) - (predictions[row] as number));
  }
  const mean = sum / total;
  let spread = 0;
  for (let row = 0; row < targets.length; row++) {
    const error = Math.abs((targets[row] as number) - (predictions[row] as number));
    spread += (weights[row] as number) * (error - mean) ** 2;
  }
  const count = Math.max(total, (units * units) / squares);
  // One row has no spread to estimate; and no gap need be smaller than rounding.
  if (count <= 1) return PRECISION;
  const deviation = Math.sqrt((spread / total) * (count / (count - 1)));
  return Math.max(PRECISION, (SHARE * deviation) / Math.sqrt(count));
}
