import type { components } from './schema.ts';

const MARKER = Symbol.for('evenhand.ServiceError');

/**
 * The error for a response that reports a problem (RFC 9457), or for a request that received no response. If there was
 * no response, `cause` is the error of the connection.
 */
export class ServiceError extends Error {
  /** The problem that the service returned. */
  readonly problem: Problem;
  readonly status: number;
  readonly [MARKER] = true;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.name = 'ServiceError';
    this.problem = problem;
    this.status = problem.status;
  }

  /** The service's suggestion for fixing the problem; undefined if there is none. */
  get suggestion(): string | undefined {
    return this.problem.suggestion;
  }

  /** Returns whether a value is a ServiceError, even if it comes from another copy of this package. */
  static isInstance(value: unknown): value is ServiceError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }
}

type Schemas = components['schemas'];

/** A problem as the service returns it (RFC 9457). */
export type Problem = Schemas['Problem'];

/** A run, with its result once it has succeeded. */
export type Run = Schemas['Run'];

/** An event of a run: a new status or its progress. */
export type RunEvent = Schemas['RunEvent'];

/** The result of a request, as returned by the methods of the client. */
export interface RequestResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Returns the body of a successful response.
 * @param result the result of a method of the client
 * @throws {ServiceError} with the problem, if the response is not a success
 */
export function dataOf<Data>(result: RequestResult<Data>): Exclude<Data, undefined> {
  const { data, response } = result;
  if (!response.ok) throw errorOf(result);
  return data as Exclude<Data, undefined>;
}

/** Returns whether the service asks to retry later: too many requests (429), or not ready (503). */
export function isBusy({ status }: Response): boolean {
  return status === 429 || status === 503;
}

/**
 * Returns the error of a response that is not a success. A response that a proxy sent may not contain a problem in the
 * format of RFC 9457.
 */
export function errorOf({ error, response }: RequestResult<unknown>): ServiceError {
  if (isProblem(error)) return new ServiceError(error);
  return new ServiceError({
    type: 'urn:evenhand:problem:internal-fault',
    title: 'The response is not from the service',
    // A proxy may send any status.
    status: response.status as Problem['status'],
    code: 'internal-fault',
    detail: `${response.url} answered ${String(response.status)} ${response.statusText}`.trim(),
    suggestion: 'Check the address of the service and the proxies in between.',
  });
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'detail' in value && 'status' in value && 'type' in value;
}
