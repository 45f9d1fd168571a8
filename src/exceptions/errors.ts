import { type ErrorCode, GENERAL_CODES } from './codes.ts';

/**
 * The key that marks every error of this package. The key also works across realms and with several installed copies of
 * the package.
 */
const MARKER = Symbol.for('evenhand.FairnessToolkitError');

/** The details of an error, in addition to its message. */
export interface ErrorDetails {
  /**
   * The stable code, listed in docs/errors.md.
   * @defaultValue the general code of the class, for example `invalid-data`
   */
  readonly code?: ErrorCode;
  /** The data used in the message: `parameter`, `argument`, `column`, `index`, `path`, `expected`, `received`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The recommended next step, as one sentence. */
  readonly suggestion?: string;
  /** The error that caused this error. */
  readonly cause?: unknown;
}

/**
 * Marks an error so that `isInstance` accepts it. This function is needed for classes that cannot extend
 * {@link FairnessToolkitError}.
 */
function markAsToolkitError(error: Error): void {
  Object.defineProperty(error, MARKER, { value: true });
}

/**
 * The base class of the errors that this package throws for invalid input, missing packages and failed operations. Each
 * error has a stable `code` (docs/errors.md).
 *
 * Use `FairnessToolkitError.isInstance(error)` to test for errors of this package. Unlike `instanceof`, the method also
 * works if two copies of the package are loaded.
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
  readonly code: ErrorCode;
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code ?? GENERAL_CODES[this.name] ?? 'toolkit-error';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }

  /**
   * Returns whether a thrown value is an error of this package. The error may come from another copy of the package.
   */
  static isInstance(error: unknown): error is FairnessToolkitError {
    return error instanceof Error && MARKER in error;
  }
}

/**
 * Thrown if an argument has a value that is not allowed. This class extends `RangeError`, the class that JavaScript's
 * own functions throw. `FairnessToolkitError.isInstance` accepts it.
 */
export class ValueError extends RangeError {
  readonly code: ErrorCode;
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ValueError';
    this.code = details.code ?? 'invalid-argument';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }
}

/** Thrown if data is invalid or results cannot be written. */
export class DataValidationError extends FairnessToolkitError {}

/** Thrown if a required optional package is not installed or cannot start. */
export class DependencyError extends FairnessToolkitError {}

/** Thrown if training fails after it has started. */
export class TrainingError extends FairnessToolkitError {}

/** Thrown if a configuration file, an option or an environment variable is invalid. */
export class ConfigValidationError extends FairnessToolkitError {}

/**
 * Thrown if a metric cannot be computed, for example because of an unknown name, missing labels or a backend failure.
 */
export class MetricComputationError extends FairnessToolkitError {}

/** Thrown if a step of a pipeline fails. `context` contains the name and index of the step. */
export class PipelineExecutionError extends FairnessToolkitError {}

/** Thrown if a call to a language model fails and is not retried. */
export class LLMClientError extends FairnessToolkitError {}

/** Thrown if only cached answers are allowed and the requested answer is not in the cache. */
export class CacheMissError extends FairnessToolkitError {}

/** What an assertion error reports. */
interface AssertionDetails {
  readonly message: string;
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator?: string;
}

/**
 * An assertion error without `code`. The type declarations of Node.js allow only the code `ERR_ASSERTION`, but this
 * package uses its own codes.
 */
type AssertionErrorClass = new (details: AssertionDetails) => Error &
  Pick<AssertionDetails, 'actual' | 'expected'> & {
    readonly operator: string;
    readonly generatedMessage: boolean;
  };

/** Stands for `AssertionError` where Node.js is not available. */
class PlainAssertionError extends Error {
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage = false;

  constructor({ message, actual, expected, operator = '' }: AssertionDetails) {
    super(message);
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
}

/** Node's `AssertionError`, without an import that other platforms do not have. */
const AssertionError: AssertionErrorClass =
  (globalThis as { readonly process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.('assert').AssertionError ??
  PlainAssertionError;

/**
 * Thrown if a fairness gate fails. This class extends Node's `AssertionError`, so test runners report a failed
 * assertion. `FairnessToolkitError.isInstance` accepts it.
 */
export class FairnessAssertionError extends AssertionError {
  readonly code: ErrorCode;
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
    this.code = details.code ?? 'gate-failed';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }
}
