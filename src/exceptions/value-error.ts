import { type ErrorDetails, markAsToolkitError } from './fairness-toolkit-error.ts';

/**
 * An argument has a value outside those allowed. It is a `RangeError`, as
 * JavaScript's own functions throw, and a toolkit error by its marker.
 */
export class ValueError extends RangeError {
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ValueError';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }
}
