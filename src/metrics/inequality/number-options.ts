import { ValueError } from '../../exceptions/index.ts';

/**
 * Checks a number among the options.
 * @param who the function that has the option
 * @throws {ValueError} for NaN, an infinity, or a number under `least`
 */
export function finiteNumber(
  who: string,
  parameter: string,
  given: number,
  suggestion: string,
  least = -Infinity,
): number {
  if (Number.isFinite(given) && given >= least) return given;
  const bound = least === -Infinity ? '' : ` of at least ${String(least)}`;
  throw outOfRange(who, parameter, `be a finite number${bound}`, given, suggestion);
}

/**
 * Checks a count among the options.
 * @param who the function that has the option
 * @throws {ValueError} for anything but a whole number from 1
 */
export function wholeNumber(who: string, parameter: string, given: number): number {
  if (Number.isInteger(given) && given >= 1) return given;
  throw outOfRange(who, parameter, 'be a whole number of at least 1', given, 'Give a count, such as 5.');
}

/** The error for an option outside of its range. */
export function outOfRange(
  who: string,
  parameter: string,
  required: string,
  given: number,
  suggestion: string,
): ValueError {
  return new ValueError(`The ${parameter} parameter of ${who} must ${required}. Got ${String(given)} instead.`, {
    context: { function: who, parameter, value: given },
    suggestion,
  });
}
