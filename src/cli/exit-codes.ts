import { FairnessToolkitError } from '../exceptions/index.ts';

/** The process was stopped by the user. */
export const INTERRUPTED = 130;

/** A check did not hold. */
export const CHECK_FAILED = 1;

/** Errors that the user mends: what was asked, or the data, or the installation. */
const USAGE_ERRORS = new Set([
  'ConfigValidationError',
  'DataValidationError',
  'DependencyError',
  'CacheMissError',
  'ValueError',
]);

/** The exit code of an error: 1 for a failed check, 2 for usage, data and dependencies, 3 for all else. */
export function exitCodeOf(error: unknown): number {
  if (!FairnessToolkitError.isInstance(error)) return 3;
  if (error.name === 'FairnessAssertionError') return CHECK_FAILED;
  return USAGE_ERRORS.has(error.name) ? 2 : 3;
}
