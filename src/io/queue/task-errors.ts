import {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  FairnessAssertionError,
  FairnessToolkitError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from '../../exceptions/index.ts';

/** An error as plain data, because its class is lost between threads, processes and machines. */
export interface EncodedError {
  readonly name: string;
  readonly message: string;
  /** The details of an error of this package; absent for other errors. */
  readonly details?: {
    readonly code: string;
    readonly context: Readonly<Record<string, unknown>>;
    readonly suggestion?: string;
  };
  /** What a failed assertion compared. */
  readonly compared?: Compared;
  readonly cause?: EncodedError;
}

interface Compared {
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly operator?: string;
}

/** The maximum number of causes of causes that are sent. */
const MAX_CAUSES = 5;

/** Returns an error as plain data of JSON. Values of the context that JSON cannot represent become texts. */
export function encodeError(error: unknown, causes = MAX_CAUSES): EncodedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, cause } = error;
  const cut = cause === undefined || causes === 0 ? {} : { cause: encodeError(cause, causes - 1) };
  if (!FairnessToolkitError.isInstance(error)) return { name, message, ...cut };
  const { code, context, suggestion } = error;
  const details = { code, context: plain(context) as object as Readonly<Record<string, unknown>> };
  return {
    name,
    message,
    details: { ...details, ...(suggestion === undefined ? {} : { suggestion }) },
    ...(error instanceof FairnessAssertionError ? { compared: comparedBy(error) } : {}),
    ...cut,
  };
}

function comparedBy({ actual, expected, operator }: FairnessAssertionError): Compared {
  return plain({ actual, expected, operator }) as Compared;
}

function plain(value: unknown): unknown {
  try {
    const text = JSON.stringify(value, (_, own: unknown) =>
      (typeof own === 'number' && !Number.isFinite(own)) || typeof own === 'bigint' || typeof own === 'function'
        ? String(own)
        : own,
    );
    return JSON.parse(text) as unknown;
  } catch {
    // The value contains itself.
    return {};
  }
}

const CLASSES = new Map(
  [
    CacheMissError,
    ConfigValidationError,
    DataValidationError,
    DependencyError,
    LLMClientError,
    MetricComputationError,
    PipelineExecutionError,
    TrainingError,
    ValueError,
  ].map((one) => [one.name, one] as const),
);

/** Reverses {@link encodeError}. An error of another package becomes an `Error` with the same name. */
export function decodeError({ name, message, details, compared, cause: encoded }: EncodedError): Error {
  const cause = encoded && decodeError(encoded);
  if (details === undefined) {
    const error = cause === undefined ? new Error(message) : new Error(message, { cause });
    if (name !== 'Error') Object.defineProperty(error, 'name', { value: name });
    return error;
  }
  const { code, context, suggestion } = details;
  const given: ErrorDetails = {
    ...(isKnownCode(code) ? { code } : {}),
    context,
    ...(suggestion === undefined ? {} : { suggestion }),
    cause,
  };
  if (name === 'FairnessAssertionError') return new FairnessAssertionError(message, { ...given, ...compared });
  const Class = CLASSES.get(name) ?? FairnessToolkitError;
  return new Class(message, given);
}

function isKnownCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** A task that failed. */
interface FailedTask {
  readonly kind: string;
  readonly id: string;
}

/** Returns the error of a task that failed several times with an error that is not one of this package. */
export function taskFailed({ kind, id }: FailedTask, attempts: number, cause: unknown): FairnessToolkitError {
  const { name, message } = encodeError(cause);
  const times = attempts === 1 ? 'once' : `${String(attempts)} times`;
  return new FairnessToolkitError(`The task '${kind}' was tried ${times} and failed: ${name}: ${message}`, {
    code: 'task-failed',
    context: { kind, id, attempts, reason: 'error' },
    suggestion: 'Read the property `cause` and the log of the worker. If the message names a bug, please report it.',
    cause,
  });
}

/** Returns the error of a task whose workers were lost too often. */
export function taskQuarantined(
  { kind, id }: FailedTask,
  { key, field, times, worker }: Quarantined & { readonly key: string; readonly field: string },
): FairnessToolkitError {
  return new FairnessToolkitError(
    `The task '${kind}' ended its worker, or stopped it from answering, ${String(times)} times. It is quarantined, and not run again.`,
    {
      code: 'task-quarantined',
      context: { kind, id, times, worker, key, field },
      suggestion: `Read the log of the worker ${worker}: it may need more memory. To allow the task again, run: redis-cli HDEL ${key} ${field}`,
    },
  );
}

/** What is stored about a task that is quarantined. */
export interface Quarantined {
  /** How often its worker was lost. */
  readonly times: number;
  /** The last worker. */
  readonly worker: string;
}

/** Returns the error of a task whose queue was closed before its output arrived. */
export function queueClosed(queue: string): FairnessToolkitError {
  return new FairnessToolkitError(`The queue of ${queue} was closed before the task ended. Its workers continue.`, {
    code: 'task-failed',
    context: { queue, reason: 'closed' },
    suggestion: 'Run the task again on an open queue: if it has ended by then, its stored output is returned.',
  });
}

/** Returns the error of a task whose output was lost again and again. */
export function taskLost({ kind, id }: FailedTask, queue: string): FairnessToolkitError {
  return new FairnessToolkitError(`The task '${kind}' and its output disappeared from ${queue} several times.`, {
    code: 'task-failed',
    context: { kind, id, queue, reason: 'lost' },
    suggestion: 'Set maxmemory-policy noeviction, and give Redis enough memory.',
  });
}
