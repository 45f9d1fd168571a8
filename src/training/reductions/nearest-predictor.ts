import type { Estimator } from '../estimators/estimator.ts';

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
