import { DataValidationError } from '../../exceptions/index.ts';

/** Sums of weights beyond this leave no room for what they are multiplied by. */
const LARGEST_TOTAL = 1e300;

/**
 * The sum of weights.
 * @throws {DataValidationError} where no number holds it and what it is multiplied by
 */
export function totalOf(weights: Float64Array): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= LARGEST_TOTAL) return total;
  throw new DataValidationError(`sampleWeight sums to ${String(total)}, which is too large to compute with.`, {
    context: { argument: 'sampleWeight', total, largest: LARGEST_TOTAL },
    suggestion: 'Divide the weights by their mean.',
  });
}

/**
 * Weights in units of their mean, which float32 holds whatever the unit was. A
 * sum of losses with a penalty has its least value where it had it, if the
 * penalty is divided by the mean too.
 */
export function inUnitsOfMean(weights: Float64Array): { readonly weights: Float64Array; readonly mean: number } {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  return { weights: mean === 1 ? weights : weights.map((weight) => weight / mean), mean };
}
