import type { Service } from '../app/service-context.ts';
import { countRequest } from './count-request.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/** What machines ask for all the time. */
const NOT_COUNTED = new Set(['/health', '/ready', '/metrics']);

/** Counts the requests of each client, and refuses those beyond the limit with 429. */
export function limitRate({ limiter }: Service): ServiceMiddleware {
  return async (context, next) => {
    if (limiter !== null && !NOT_COUNTED.has(context.path)) await countRequest(limiter, context);
    await next();
  };
}
