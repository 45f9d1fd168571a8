/** Marks every error of this package, also across realms and duplicate installs. */
const MARKER = Symbol.for('evenhand.FairnessToolkitError');

/** What an error may carry beside its message. */
export interface ErrorDetails {
  /** The facts behind the message: argument names, indexes, values, paths. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** What to do next, as one sentence. */
  readonly suggestion?: string;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/** Makes `isInstance` hold for an error that cannot extend {@link FairnessToolkitError}. */
export function markAsToolkitError(error: Error): void {
  Object.defineProperty(error, MARKER, { value: true });
}

/**
 * The base of every error that this package throws on purpose.
 *
 * Test for it with `FairnessToolkitError.isInstance(error)`, which also holds
 * where two copies of the package are loaded and `instanceof` would fail.
 * @example
 * ```ts
 * import { FairnessToolkitError } from 'evenhand/exceptions';
 *
 * const error = new FairnessToolkitError('no rows', { suggestion: 'Check the filter.' });
 * console.log(FairnessToolkitError.isInstance(error), error.suggestion);
 * // true Check the filter.
 * ```
 */
export class FairnessToolkitError extends Error {
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }

  /** Whether a thrown value is an error of this package, whichever copy of the package threw it. */
  static isInstance(error: unknown): error is FairnessToolkitError {
    return error instanceof Error && MARKER in error;
  }
}
