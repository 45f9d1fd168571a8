import { DataValidationError } from '../../exceptions/index.ts';

/** @throws {DataValidationError} for weights whose sum is infinite */
export function assertFiniteTotal(weights: Float64Array): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total < Infinity) return;
  throw new DataValidationError('The weights of sampleWeight add up to more than a number can hold.', {
    context: { argument: 'sampleWeight' },
    suggestion: 'Divide all weights by their largest.',
  });
}
