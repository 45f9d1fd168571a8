import type { components } from './schema.ts';

const MARKER = Symbol.for('evenhand.ServiceError');

/** What the service could not do, as its problem says (RFC 9457); or that it gave no answer, with the `cause`. */
export class ServiceError extends Error {
  /** What the service answered. */
  readonly problem: Problem;
  readonly status: number;
  readonly [MARKER] = true;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.name = 'ServiceError';
    this.problem = problem;
    this.status = problem.status;
  }

  /** What to do next, where the service says so. */
  get suggestion(): string | undefined {
    return this.problem.suggestion;
  }

  /** Whether a value is an error of this kind, also one that another copy of this package made. */
  static isInstance(value: unknown): value is ServiceError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }
}

type Schemas = components['schemas'];

/** Why there is no result. */
export type Problem = Schemas['Problem'];

/** A run, with its result when it has one. */
export type Run = Schemas['Run'];

/** Something that happened to a run. */
export type RunEvent = Schemas['RunEvent'];

/** What a request gave, as each method of the client returns it. */
export interface RequestResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of an answer, where there is one.
 * @param result what a method of the client gave
 * @throws {ServiceError} with the problem that was answered in its place
 */
export function dataOf<Data>(result: RequestResult<Data>): Exclude<Data, undefined> {
  const { data, response } = result;
  if (!response.ok) throw errorOf(result);
  return data as Exclude<Data, undefined>;
}

/** The error of an answer that is no result; what stands between client and service may answer otherwise than in problems. */
export function errorOf({ error, response }: RequestResult<unknown>): ServiceError {
  if (isProblem(error)) return new ServiceError(error);
  return new ServiceError({
    type: 'urn:evenhand:problem:internal-fault',
    title: 'The answer is none of the service',
    // Any status may come from a proxy.
    status: response.status as Problem['status'],
    code: 'internal-fault',
    detail: `${response.url} answered ${String(response.status)} ${response.statusText}`.trim(),
    suggestion: 'Check the address of the service, and what stands between.',
  });
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'detail' in value && 'status' in value && 'type' in value;
}
