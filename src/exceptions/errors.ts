import { AssertionError } from 'node:assert';

import type { ErrorCode } from './codes.ts';

/** Marks every error of this package, also across realms and duplicate installs. */
const MARKER = Symbol.for('evenhand.FairnessToolkitError');

/** What an error carries beside its message. */
export interface ErrorDetails {
  /**
   * The stable code, listed in docs/errors.md.
   * @defaultValue the general code of the class, for example `invalid-data`
   */
  readonly code?: ErrorCode;
  /** The facts behind the message: `parameter`, `argument`, `column`, `index`, `path`, `expected`, `received`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** What to do next, as one sentence. */
  readonly suggestion?: string;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/** The code of each class for errors that name none. */
const CODE_OF_CLASS: Readonly<Record<string, ErrorCode>> = {
  DataValidationError: 'invalid-data',
  DependencyError: 'missing-package',
  TrainingError: 'training-failed',
  ConfigValidationError: 'invalid-config',
  MetricComputationError: 'metric-unavailable',
  PipelineExecutionError: 'step-failed',
  LLMClientError: 'provider-failed',
  CacheMissError: 'live-calls-not-allowed',
};

/** Makes `isInstance` hold for an error that cannot extend {@link FairnessToolkitError}. */
function markAsToolkitError(error: Error): void {
  Object.defineProperty(error, MARKER, { value: true });
}

/**
 * The base class of every error that this package throws on purpose. Each carries a stable `code` (docs/errors.md).
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
  readonly code: ErrorCode;
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code ?? CODE_OF_CLASS[this.name] ?? 'toolkit-error';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }

  /** Returns whether a thrown value is an error of this package, even if another copy of the package threw it. */
  static isInstance(error: unknown): error is FairnessToolkitError {
    return error instanceof Error && MARKER in error;
  }
}

/**
 * Thrown if an argument has a value that is not allowed. It is a `RangeError`, as
 * JavaScript's own functions throw, and a toolkit error by its marker.
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

/** Thrown if data cannot be used, or results cannot be written. */
export class DataValidationError extends FairnessToolkitError {}

/** Thrown if an optional package is needed and is not installed or cannot start. */
export class DependencyError extends FairnessToolkitError {}

/** Thrown if training started and failed. */
export class TrainingError extends FairnessToolkitError {}

/** Thrown if a configuration file, an option or an environment variable is invalid. */
export class ConfigValidationError extends FairnessToolkitError {}

/** Thrown if a metric cannot be computed at all: unknown name, missing labels, backend failure. */
export class MetricComputationError extends FairnessToolkitError {}

/** Thrown if a step of a pipeline fails; `context` holds its name and index. */
export class PipelineExecutionError extends FairnessToolkitError {}

/** Thrown if a call to a language model fails and is not retried. */
export class LLMClientError extends FairnessToolkitError {}

/** Thrown if only cached answers are allowed and one is not in the cache. */
export class CacheMissError extends FairnessToolkitError {}

/** Node's types fix the code of an assertion error to `ERR_ASSERTION`; ours has a code of this package. */
const CodelessAssertionError = AssertionError as unknown as new (
  options: ConstructorParameters<typeof AssertionError>[0],
) => Omit<AssertionError, 'code'>;

/**
 * Thrown if a fairness gate fails. It is a Node `AssertionError`, so test runners
 * report it as a failed assertion, and a toolkit error by its marker.
 */
export class FairnessAssertionError extends CodelessAssertionError {
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
