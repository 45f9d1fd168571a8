import { invalidParameter } from '../../../internal/invalid-parameter.ts';

/**
 * The largest weight, of weights with mean 1.
 * @throws {ValueError} where a mean of 1 would be out of reach
 */
export function requireMaxWeight(maxWeight: number): number {
  if (maxWeight >= 1 && maxWeight < Infinity) return maxWeight;
  throw invalidParameter('maxWeight', 'be a finite number of at least 1, since the weights have mean 1', maxWeight);
}
