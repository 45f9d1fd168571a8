import { AssertionError } from 'node:assert';

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
function markAsToolkitError(error: Error): void {
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

/** The data that came in, or the place where results should go, cannot be used. */
export class DataValidationError extends FairnessToolkitError {}

/** A package that is not installed by default is needed and missing, or cannot start here. */
export class DependencyError extends FairnessToolkitError {}

/** Training started and failed. */
export class TrainingError extends FairnessToolkitError {}

/** A configuration file, an option or an environment variable is invalid. */
export class ConfigValidationError extends FairnessToolkitError {}

/** A metric that was asked for cannot be computed at all: unknown name, missing labels, backend failure. */
export class MetricComputationError extends FairnessToolkitError {}

/** A step of a pipeline failed; `context` holds its name and index. */
export class PipelineExecutionError extends FairnessToolkitError {}

/** A call to a language model failed for good. */
export class LLMClientError extends FairnessToolkitError {}

/** Only cached answers were allowed, and one is not in the cache. */
export class CacheMissError extends FairnessToolkitError {}

/**
 * A fairness gate did not hold. It is a node `AssertionError`, so test runners
 * report it as a failed assertion, and a toolkit error by its marker.
 */
export class FairnessAssertionError extends AssertionError {
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { readonly actual?: unknown; readonly expected?: unknown; readonly operator?: string } = {},
  ) {
    super({
      message,
      actual: details.actual,
      expected: details.expected,
      ...(details.operator === undefined ? {} : { operator: details.operator }),
    });
    this.name = 'FairnessAssertionError';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }
}
