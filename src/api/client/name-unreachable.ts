import type { Middleware } from 'openapi-fetch';

import { ServiceError } from './service-error.ts';

/** Tells a request that no answer came to, with the address that it went to; an end that was asked for stays what it is. */
export const nameUnreachable: Middleware = {
  onError: ({ error, request }) => {
    if (request.signal.aborted || ServiceError.isInstance(error)) return undefined;
    return unreachable(request.url, error);
  },
};

function unreachable(url: string, cause: unknown): ServiceError {
  const { origin, pathname } = new URL(url);
  return new ServiceError(
    {
      type: 'urn:evenhand:problem:unavailable',
      title: 'The service cannot be reached',
      status: 503,
      detail: `${origin}${pathname} gave no answer: ${reasonOf(cause)}.`,
      suggestion: `Check that the service runs and answers at ${origin}.`,
    },
    { cause },
  );
}

/** fetch says no more than that it failed; what it met stands in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return cause.message === '' ? code || error.message : cause.message;
}
