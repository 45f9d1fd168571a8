import type { Problem } from './client-types.ts';
import { ServiceError } from './service-error.ts';

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
    detail: `${response.url} answered ${String(response.status)} ${response.statusText}`.trim(),
    suggestion: 'Check the address of the service, and what stands between.',
  });
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'detail' in value && 'status' in value && 'type' in value;
}
