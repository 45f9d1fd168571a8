import { invalidParameter } from '../../internal/invalid-parameter.ts';

/** @throws {ValueError} for a seed that is not a whole number */
export function readSeed(seed: number): number {
  if (!Number.isSafeInteger(seed)) throw invalidParameter('seed', 'be a whole number', seed);
  return seed;
}
