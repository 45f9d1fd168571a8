import type { RateLimiter, ServiceContext } from '../app/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { clientAddress } from './client-address.ts';

/**
 * Counts a request by its key, or by its address where it showed none that is known, and says in `RateLimit-Limit`,
 * `RateLimit-Remaining` and `RateLimit-Reset` (seconds) what is left.
 * @throws {ServiceProblem} 429 beyond the limit
 */
export async function countRequest(limiter: RateLimiter, context: ServiceContext): Promise<void> {
  const { isAllowed, limit, remaining, resetSeconds } = await limiter.take(clientOf(context));
  const reset = String(Math.ceil(resetSeconds));
  context.res.setHeader('RateLimit-Limit', String(limit));
  context.res.setHeader('RateLimit-Remaining', String(remaining));
  context.res.setHeader('RateLimit-Reset', reset);
  if (isAllowed) return;
  throw new ServiceProblem(429, {
    detail: `More than ${String(limit)} requests came from this client within a minute.`,
    suggestion: `Wait ${reset} seconds.`,
    headers: { 'Retry-After': reset },
  });
}

function clientOf({ state, req }: ServiceContext): string {
  return state.client === '' ? `address:${clientAddress(req.socket.remoteAddress)}` : `key:${state.client}`;
}
