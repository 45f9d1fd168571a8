import { invalidParameter } from '../internal/arguments.ts';

/** A number strictly between 0 and 1. */
export function requireLevel(parameter: string, given: number): number {
  if (given > 0 && given < 1) return given;
  throw invalidParameter(parameter, 'be a number between 0 and 1, both excluded', given);
}

/** A rate or a probability, 0 and 1 included. */
export function requireRate(parameter: string, given: number): number {
  if (given >= 0 && given <= 1) return given;
  throw invalidParameter(parameter, 'be a number from 0 to 1', given);
}

/** A whole number that a double holds exactly, of at least a bound. */
export function requireWhole(parameter: string, given: number, least: number): number {
  if (Number.isSafeInteger(given) && given >= least) return given;
  throw invalidParameter(parameter, `be a whole number of at least ${String(least)}`, given);
}

/** A finite number, of at least 0; fractions are allowed (effective counts). */
export function requireCount(parameter: string, given: number): number {
  if (given >= 0 && given < Infinity) return given;
  throw invalidParameter(parameter, 'be a finite number of at least 0', given);
}

/** Successes, from 0 to their trials; fractions are allowed (effective counts). */
export function requireSuccesses(parameter: string, given: number, trialsParameter: string, trials: number): number {
  if (given >= 0 && given <= trials) return given;
  throw invalidParameter(parameter, `be a number from 0 to ${trialsParameter} = ${String(trials)}`, given);
}
