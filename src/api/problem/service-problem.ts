import type { ErrorCode } from '../../exceptions/index.ts';

/** One field at fault, by its JSON pointer in what was sent ("/y_pred/3"); the pointer of a query parameter is its name. */
export interface InvalidField {
  readonly pointer: string;
  readonly detail: string;
}

/** What a problem says beside its status. */
export interface ProblemDetails {
  /**
   * The stable code, listed in docs/errors.md.
   * @defaultValue the code of the status, for example `invalid-request`
   */
  readonly code?: ErrorCode | undefined;
  /** What is wrong, in one sentence for the one who sent the request. */
  readonly detail: string;
  /** What to do next. */
  readonly suggestion?: string | undefined;
  readonly errors?: readonly InvalidField[] | undefined;
  readonly runId?: string | undefined;
  /** Headers of the answer: Retry-After, Allow, WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a problem is called, by its status (RFC 9457: `type` and `title` name the kind, `detail` the case). */
export const PROBLEM_KINDS = {
  400: ['malformed-request', 'The request is malformed'],
  401: ['not-authenticated', 'A valid key is required'],
  403: ['not-allowed', 'This is not allowed here'],
  404: ['not-found', 'There is nothing here'],
  405: ['method-not-allowed', 'The method is not allowed here'],
  406: ['not-acceptable', 'The result has no such form'],
  408: ['request-timeout', 'The request came too slowly'],
  409: ['conflict', 'The run is not in a state for this'],
  413: ['too-large', 'The request is too large'],
  415: ['unsupported-media-type', 'The content type is not supported'],
  422: ['invalid-request', 'The request cannot be processed'],
  429: ['too-many-requests', 'Too many requests'],
  431: ['headers-too-large', 'Request Header Fields Too Large'],
  500: ['internal-fault', 'Something failed inside'],
  502: ['provider-failed', 'The language model did not answer'],
  503: ['unavailable', 'The service cannot take this now'],
} as const satisfies Readonly<Record<number, readonly [slug: string, title: string]>>;

/** A status that a problem may have. */
export type ProblemStatus = keyof typeof PROBLEM_KINDS;

/** A problem on the wire: `application/problem+json`. */
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

/** When a client may try again that is not told otherwise. */
const RETRY_SECONDS = '60';

/** An answer of the service that is a problem. Thrown anywhere below the routes, answered by the middleware `answerProblems`. */
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
    // A problem that comes as JSON from a thread or the store has no headers, and 503 always says when to try again.
    this.headers = headers ?? (status === 503 ? { 'Retry-After': RETRY_SECONDS } : {});
  }

  /** The problem as it is answered, and as it travels between threads and processes. */
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

  /** A problem that came as JSON from another thread or process. */
  static fromJSON(
    { status, code, detail, errors, suggestion, run_id: runId }: ProblemJson,
    headers?: Readonly<Record<string, string>>,
  ): ServiceProblem {
    return new ServiceProblem(status, { code, detail, errors, suggestion, runId, headers });
  }
}

/** The disk is full, the user's share of it is, or too many files are open. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** What DuckDB says, which gives no code. */
const NO_ROOM_TEXT = /no space left on device|disk quota exceeded|too many open files/i;

/** Errors have causes, but not endlessly many. */
const MAX_CAUSES = 10;

/**
 * Returns 503 with Retry-After for an error that the system raised because it has no room; undefined for any other.
 * @param what there is no room for
 */
export function noRoomProblem(error: unknown, what: string): ServiceProblem | undefined {
  if (!isNoRoom(error)) return undefined;
  return new ServiceProblem(
    503,
    {
      detail: `The service has no room left for ${what}.`,
      suggestion: 'Try again later.',
      headers: { 'Retry-After': '60' },
    },
    error,
  );
}

/** Whether an error, or one that caused it, says that a disk is full or no more files can be opened. */
function isNoRoom(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++, cause = cause.cause) {
    const { code, context } = cause as { readonly code?: unknown; readonly context?: { readonly code?: unknown } };
    if (NO_ROOM.has(String(code)) || NO_ROOM.has(String(context?.code)) || NO_ROOM_TEXT.test(cause.message))
      return true;
  }
  return false;
}
