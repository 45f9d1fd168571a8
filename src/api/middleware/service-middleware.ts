import { isIPv6 } from 'node:net';

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

import { invalidParameter } from '../../internal/arguments.ts';
import type { RateLimiter, ServiceContext } from '../context/service-context.ts';
import { OPERATIONS } from '../openapi/operation-ids.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** The route of unknown paths. */
const UNMATCHED = 'unmatched';

/** The methods of each route, in the format of an `Allow` header. */
export const ROUTE_METHODS = new Map<string, readonly string[]>();
for (const [method, route] of Object.values(OPERATIONS)) {
  const named = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
  ROUTE_METHODS.set(route, [...(ROUTE_METHODS.get(route) ?? []), ...named]);
}

/** The paths with a variable part. */
const PATTERNS = [...ROUTE_METHODS.keys()]
  .filter((route) => route.includes('{'))
  .map((route) => ({ route, pattern: new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));

/** The path of the files that the documentation pages load. These files are not operations of the API. */
const ASSETS = '/docs/assets/';
const ASSETS_ROUTE = '/docs/assets/{file}';

/**
 * Returns the matching path of the OpenAPI document. The paths are a fixed list, so the number of routes is bounded. A
 * trailing slash is ignored.
 */
export function routeOfPath(path: string): string {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (ROUTE_METHODS.has(plain)) return plain;
  if (plain.startsWith(ASSETS)) return ASSETS_ROUTE;
  return PATTERNS.find(({ pattern }) => pattern.test(plain))?.route ?? UNMATCHED;
}

/** Middleware around the routes. */
export type ServiceMiddleware = (context: ServiceContext, next: () => Promise<unknown>) => Promise<void>;

/**
 * Counts a request for its API key or, without a valid key, for its address. The headers `RateLimit-Limit`,
 * `RateLimit-Remaining` and `RateLimit-Reset` (seconds) report the remaining requests.
 * @throws {ServiceProblem} 429 above the limit
 */
export async function countRequest(limiter: RateLimiter, context: ServiceContext): Promise<void> {
  const { isAllowed, limit, remaining, resetSeconds } = await limiter.take(clientOf(context));
  const reset = String(Math.ceil(resetSeconds));
  context.res.setHeader('RateLimit-Limit', String(limit));
  context.res.setHeader('RateLimit-Remaining', String(remaining));
  context.res.setHeader('RateLimit-Reset', reset);
  if (isAllowed) return;
  throw new ServiceProblem(429, {
    detail: `This client sent more than ${String(limit)} requests within a minute.`,
    suggestion: `Wait ${reset} seconds.`,
    headers: { 'Retry-After': reset },
  });
}

function clientOf({ state, req }: ServiceContext): string {
  return state.client === '' ? `address:${clientAddress(req.socket.remoteAddress)}` : `key:${state.client}`;
}

/**
 * Returns the address by which requests are counted. For IPv6, only the first 64 bits are used, because a household
 * usually has all addresses with the same prefix. An IPv4-mapped IPv6 address is returned as IPv4.
 */
export function clientAddress(remote: string | undefined): string {
  if (remote === undefined) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remote)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(remote) ? networkOf(remote) : remote;
}

function networkOf(address: string): string {
  const [before = '', after = ''] = address.toLowerCase().replace(/%.*$/, '').split('::', 2);
  const first = groupsOf(before);
  const last = groupsOf(after);
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** The time window in seconds. The window of a client begins with its first request. */
const SECONDS = 60;

/** A limiter of rate-limiter-flexible. */
type Counter = Pick<RateLimiterMemory, 'consume'>;

/**
 * Creates a limiter of requests per minute and client.
 * @param counterOf creates the counter; by default, one in the memory of this process
 * @throws {ValueError} if the limit is not a whole number of at least 1
 */
export function createRateLimiter(
  perMinute: number,
  counterOf: (options: { readonly points: number; readonly duration: number }) => Counter = (options) =>
    new RateLimiterMemory(options),
): RateLimiter {
  if (!Number.isSafeInteger(perMinute) || perMinute < 1) {
    throw invalidParameter('rateLimit', 'be a whole number of at least 1', perMinute);
  }
  const limiter = counterOf({ points: perMinute, duration: SECONDS });
  return {
    take: async (client) => {
      let isAllowed = true;
      const { remainingPoints, msBeforeNext } = await limiter.consume(client).catch((refusal: unknown) => {
        // The limiter rejects with the remaining allowance if the limit is exceeded, and with an Error only for
        // failures.
        if (refusal instanceof Error) throw refusal;
        isAllowed = false;
        return refusal as RateLimiterRes;
      });
      const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
      return { isAllowed, limit: perMinute, remaining: Math.max(0, remainingPoints), resetSeconds };
    },
  };
}
