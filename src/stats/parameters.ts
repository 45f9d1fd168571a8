import { invalidParameter } from '../internal/arguments.ts';

/** Checks that a number is strictly between 0 and 1, and returns it. */
export function requireLevel(parameter: string, given: number): number {
  if (given > 0 && given < 1) return given;
  throw invalidParameter(parameter, 'be a number between 0 and 1, both excluded', given);
}

/** Checks that a rate or a probability is from 0 to 1, and returns it. */
export function requireRate(parameter: string, given: number): number {
  if (given >= 0 && given <= 1) return given;
  throw invalidParameter(parameter, 'be a number from 0 to 1', given);
}

/** Checks that a number is a safe integer within bounds, and returns the number. */
export function requireInteger(parameter: string, given: number, min: number, max = Infinity): number {
  if (Number.isSafeInteger(given) && given >= min && given <= max) return given;
  const bound = max === Infinity ? '' : ` and at most ${String(max)}`;
  throw invalidParameter(parameter, `be a whole number of at least ${String(min)}${bound}`, given);
}

/** Checks that a seed is a safe integer, and returns it. */
export function requireSeed(seed: number, parameter = 'seed'): number {
  if (Number.isSafeInteger(seed)) return seed;
  throw invalidParameter(parameter, 'be a whole number', seed);
}

/** Checks that a number is finite and at least 0, and returns it. Fractions are allowed (effective counts). */
export function requireCount(parameter: string, given: number): number {
  if (given >= 0 && given < Infinity) return given;
  throw invalidParameter(parameter, 'be a finite number of at least 0', given);
}

/**
 * Checks that the number of successes is from 0 to the number of trials, and returns it. Fractions are allowed
 * (effective counts).
 */
export function requireSuccesses(parameter: string, given: number, trialsParameter: string, trials: number): number {
  if (given >= 0 && given <= trials) return given;
  throw invalidParameter(parameter, `be a number from 0 to ${trialsParameter} = ${String(trials)}`, given);
}
