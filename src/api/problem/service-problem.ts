import type { ErrorCode } from '../../exceptions/index.ts';
import { reasonOfCode } from '../../io/file-problem.ts';

/** An invalid field, identified by its JSON pointer in the body ("/y_pred/3") or by the name of a query parameter. */
export interface InvalidField {
  readonly pointer: string;
  readonly detail: string;
}

/** The content of a problem, without its status. */
export interface ProblemDetails {
  /**
   * The stable code, listed in docs/errors.md.
   * @defaultValue the code of the status, for example `invalid-request`
   */
  readonly code?: ErrorCode | undefined;
  /** What is wrong with the request, in one sentence. */
  readonly detail: string;
  /** How to fix it. */
  readonly suggestion?: string | undefined;
  readonly errors?: readonly InvalidField[] | undefined;
  readonly runId?: string | undefined;
  /** Headers of the answer: Retry-After, Allow, WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The identifier and the title of the problem for each HTTP status. In RFC 9457, `type` and `title` name the kind of
 * problem, and `detail` describes the case.
 */
export const PROBLEM_KINDS = {
  400: ['malformed-request', 'The request is malformed'],
  401: ['not-authenticated', 'A valid key is required'],
  403: ['not-allowed', 'The request is not allowed'],
  404: ['not-found', 'The resource does not exist'],
  405: ['method-not-allowed', 'The method is not allowed'],
  406: ['not-acceptable', 'The requested format is not available'],
  408: ['request-timeout', 'The request arrived too slowly'],
  409: ['conflict', 'The state of the run does not allow this'],
  413: ['too-large', 'The request is too large'],
  415: ['unsupported-media-type', 'The content type is not supported'],
  422: ['invalid-request', 'The request cannot be processed'],
  429: ['too-many-requests', 'Too many requests'],
  431: ['headers-too-large', 'Request Header Fields Too Large'],
  500: ['internal-fault', 'Internal error'],
  502: ['provider-failed', 'The provider of the language model failed'],
  503: ['unavailable', 'The service is unavailable'],
} as const satisfies Readonly<Record<number, readonly [slug: string, title: string]>>;

/** A status that a problem may have. */
export type ProblemStatus = keyof typeof PROBLEM_KINDS;

/** A problem as JSON, as sent with the content type `application/problem+json`. */
export interface ProblemJson {
  readonly type: string;
  readonly title: string;
  readonly status: ProblemStatus;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly InvalidField[];
  readonly suggestion?: string;
  readonly run_id?: string;
}

/** The default time in seconds after which a client may retry. */
const DEFAULT_RETRY_SECONDS = '60';

/**
 * A problem that is returned to the client. The problem may be thrown anywhere; the middleware `answerProblems`
 * converts it to a response.
 */
export class ServiceProblem extends Error {
  readonly status: ProblemStatus;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly suggestion: string | undefined;
  readonly errors: readonly InvalidField[] | undefined;
  readonly runId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ProblemStatus, details: ProblemDetails, cause?: unknown) {
    const { code, detail, suggestion, errors, runId, headers } = details;
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'ServiceProblem';
    this.status = status;
    this.code = code ?? PROBLEM_KINDS[status][0];
    this.detail = detail;
    this.suggestion = suggestion;
    this.errors = errors;
    this.runId = runId;
    // A problem that was restored from JSON has no headers, but every 503 needs Retry-After.
    this.headers = headers ?? (status === 503 ? { 'Retry-After': DEFAULT_RETRY_SECONDS } : {});
  }

  /** Returns the problem as JSON, as sent in responses and between threads and processes. */
  toJSON(): ProblemJson {
    const [slug, title] = PROBLEM_KINDS[this.status];
    return {
      type: `urn:evenhand:problem:${slug}`,
      title,
      status: this.status,
      code: this.code,
      detail: this.detail,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      ...(this.suggestion === undefined ? {} : { suggestion: this.suggestion }),
      ...(this.runId === undefined ? {} : { run_id: this.runId }),
    };
  }

  /** Restores a problem from the JSON of another thread or process. */
  static fromJSON(
    { status, code, detail, errors, suggestion, run_id: runId }: ProblemJson,
    headers?: Readonly<Record<string, string>>,
  ): ServiceProblem {
    return new ServiceProblem(status, { code, detail, errors, suggestion, runId, headers });
  }
}

/** Shortens text from a client for a message. */
export function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/**
 * Returns a problem of one field.
 * @param pointer the JSON pointer of the field; for a query parameter, its name
 */
export function fieldProblem(
  status: ProblemStatus,
  pointer: string,
  detail: string,
  suggestion: string,
): ServiceProblem {
  return new ServiceProblem(status, { detail, errors: [{ pointer, detail }], suggestion });
}

/** Returns a 503 problem with the time after which the client may retry. */
export function unavailable(detail: string, suggestion: string, retrySeconds: number): ServiceProblem {
  return new ServiceProblem(503, { detail, suggestion, headers: { 'Retry-After': String(retrySeconds) } });
}

/**
 * Returns a 500 problem without details.
 * @param id the ID under which the log contains the cause
 */
export function internalProblem(id: string, cause?: unknown): ServiceProblem {
  const detail = `An internal error occurred. The log of the service contains details under the ID ${id}.`;
  return new ServiceProblem(500, { detail, suggestion: 'Give this ID to the operator of the service.' }, cause);
}

/** The system's error codes for a full disk, an exhausted quota, and too many open files. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** DuckDB's messages for the same errors, because these messages have no error code. */
const NO_ROOM_TEXTS: readonly (readonly [text: RegExp, code: string])[] = [
  [/no space left on device/i, 'ENOSPC'],
  [/disk quota exceeded/i, 'EDQUOT'],
  [/too many open files/i, 'EMFILE'],
];

/** The maximum number of causes to follow, because causes may be circular. */
const MAX_CAUSES = 10;

/**
 * Returns a 503 problem if the disk is full or too many files are open; undefined for any other error.
 * @param what the name of the data that could not be stored
 */
export function noRoomProblem(error: unknown, what: string): ServiceProblem | undefined {
  const reason = noRoomReason(error);
  if (reason === undefined) return undefined;
  const detail = `The service has no room left for ${what}: ${reason}.`;
  return new ServiceProblem(503, { detail, suggestion: 'Send the request again later.' }, error);
}

/** Returns why there is no room, if an error or one of its causes reports a full disk or too many open files. */
function noRoomReason(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++, cause = cause.cause) {
    const { code, context } = cause as { readonly code?: unknown; readonly context?: { readonly code?: unknown } };
    const named = [code, context?.code].map(String).find((one) => NO_ROOM.has(one));
    const { message } = cause;
    const found = named ?? NO_ROOM_TEXTS.find(([text]) => text.test(message))?.[1];
    if (found !== undefined) return reasonOfCode(found) ?? found;
  }
  return undefined;
}

/** The time in seconds after which a client may retry a run. */
const RETRY_SECONDS = 10;

const RETRY_LATER = 'Send the request again later.';

/** Returns the problem for a request that is rejected because the queue is full. */
export function queueFull(): ServiceProblem {
  return unavailable('The queue is full: too many runs are already waiting.', RETRY_LATER, RETRY_SECONDS);
}

/** Returns the problem for new work that is rejected because the service is shutting down. */
export function serviceEnds(): ServiceProblem {
  return unavailable('The service is shutting down and accepts no new work.', RETRY_LATER, RETRY_SECONDS);
}

/** The time in seconds after which a client may retry if the shared store does not answer. */
const AWAY_SECONDS = '5';

/** Returns the problem for a request that needs the store of several hosts while this store does not answer. */
export function storeAway(cause?: unknown, runId?: string): ServiceProblem {
  const detail = `The service cannot reach the store that its hosts share.${runId === undefined ? '' : ' The run continues when the store answers again.'}`;
  const headers = { 'Retry-After': AWAY_SECONDS };
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, runId, headers }, cause);
}

/** Returns the problem for a request that needs the store of several hosts while this store has no room. */
export function storeFull(cause: unknown): ServiceProblem {
  const detail = 'The store that the hosts of the service share cannot save anything at the moment.';
  const headers = { 'Retry-After': String(RETRY_SECONDS) };
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, headers }, cause);
}

/** Returns the problem for a run whose result could not be saved in the store. */
export function cannotKeep(runId: string, cause: unknown): ServiceProblem {
  const headers = { 'Retry-After': String(RETRY_SECONDS) };
  const reason = noRoomReason(cause);
  const detail = `The run could not be saved in the store${reason === undefined ? '' : `: ${reason}`}.`;
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, runId, headers }, cause);
}

/**
 * Returns the problem of a run whose file in the store was edited or damaged. The content of the file is not returned.
 */
export function damagedRun(runId: string, cause: unknown): ServiceProblem {
  const detail = 'The stored result of this run is damaged: its content does not match its checksum.';
  const suggestion = 'Send the request again, or ask the operator of the service to restore the result from a backup.';
  return new ServiceProblem(500, { detail, suggestion, runId }, cause);
}

/** Returns the problem for an unknown run ID. */
export function unknownRun(runId: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `There is no run '${runId.slice(0, 64)}'.`,
    suggestion: 'Check the ID. If the store is full, the oldest results are dropped.',
  });
}

/** Returns the problem for an idempotency key that was already used for a different request. */
export function keyUsedOtherwise(): ServiceProblem {
  return new ServiceProblem(422, {
    detail: 'The Idempotency-Key was already used for a different request.',
    suggestion: 'Use a new key for each new request. Use the same key only to repeat a request unchanged.',
  });
}

/** Returns the problem of a run that a client cancelled. */
export function cancelledByClient(runId: string): ProblemJson {
  const detail = 'The run was cancelled on request.';
  return new ServiceProblem(409, { detail, suggestion: 'Send the request again for a new run.', runId }).toJSON();
}

/** Returns the problem of a run that was cancelled because the service ended. */
export function cancelledByEnd(runId: string): ProblemJson {
  const detail = 'The service ended before the run did, so the run was cancelled.';
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, runId }).toJSON();
}

/** Returns the problem of a run that did not finish because the process that ran it has ended. */
export function leftByEarlierProcess(runId: string): ProblemJson {
  const detail = 'The service ended while this run was in progress.';
  return new ServiceProblem(503, { detail, suggestion: 'Send the request again.', runId }).toJSON();
}

/** Returns the problem of a run whose upload is not stored any more when a worker begins. */
export function uploadLost(cause: unknown): ServiceProblem {
  return new ServiceProblem(
    503,
    { detail: 'The upload of this run is not stored any more.', suggestion: RETRY_LATER },
    cause,
  );
}

/** Returns the problem of a run that is not tried again, because several workers ended while they worked on it. */
export function abandonedRun(runId: string): ProblemJson {
  const detail = 'The run ended several workers of the service, or stopped them from answering.';
  const suggestion = 'Send fewer rows or columns, or ask the operator of the service to read the log of the workers.';
  return new ServiceProblem(500, { detail, suggestion, runId }).toJSON();
}

/** Returns the problem of a failed run: the thrown problem, or an internal error without details. */
export function problemOfRun(runId: string, thrown: unknown): ProblemJson {
  const problem = thrown instanceof ServiceProblem ? thrown : noRoomProblem(thrown, 'results');
  return { ...(problem ?? internalProblem(runId)).toJSON(), run_id: runId };
}
