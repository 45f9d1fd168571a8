import { FairnessToolkitError } from '../exceptions/index.ts';

/** The exit code if the user interrupted the process. */
export const INTERRUPTED = 130;

/** The exit code if a check or a gate failed. */
export const CHECK_FAILED = 1;

/** The errors that the user can fix: options, data or the installation. */
const USAGE_ERRORS = new Set([
  'ConfigValidationError',
  'DataValidationError',
  'DependencyError',
  'CacheMissError',
  'ValueError',
]);

/** Returns the exit code of an error: 1 for a failed check, 2 for invalid options, data or packages, otherwise 3. */
export function exitCodeOf(error: unknown): number {
  if (!FairnessToolkitError.isInstance(error)) return 3;
  if (error.name === 'FairnessAssertionError') return CHECK_FAILED;
  return USAGE_ERRORS.has(error.name) ? 2 : 3;
}
