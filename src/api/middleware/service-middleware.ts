import { isIPv6 } from 'node:net';

import type { RateLimiter, ServiceContext } from '../context/service-context.ts';
import { OPERATIONS } from '../openapi/operation-ids.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** The route of paths that the service does not have. */
const UNMATCHED = 'unmatched';

/** The methods of each route, as an `Allow` header names them. */
const METHODS = new Map<string, readonly string[]>();
for (const [method, route] of Object.values(OPERATIONS)) {
  const named = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
  METHODS.set(route, [...(METHODS.get(route) ?? []), ...named]);
}

/** Paths with a part that varies. */
const PATTERNS = [...METHODS.keys()]
  .filter((route) => route.includes('{'))
  .map((route) => ({ route, pattern: new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));

/** Files of the documentation's pages, which are no operations. */
const ASSETS = '/docs/assets/';
const ASSETS_ROUTE = '/docs/assets/{file}';

/**
 * The path as the OpenAPI document writes it, out of a fixed list: whatever clients ask for, there are only so many.
 * A slash at the end counts for nothing.
 */
export function routeOfPath(path: string): string {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (METHODS.has(plain)) return plain;
  if (plain.startsWith(ASSETS)) return ASSETS_ROUTE;
  return PATTERNS.find(({ pattern }) => pattern.test(plain))?.route ?? UNMATCHED;
}

/** The methods that a route answers; undefined for one that is not known. */
export function methodsOfRoute(route: string): readonly string[] | undefined {
  return METHODS.get(route);
}

/** The paths of the service, for those who look for one. */
export function knownPaths(): readonly string[] {
  return [...METHODS.keys()];
}

/** Stands around the routes: does its part, and lets `next` do the rest. */
export type ServiceMiddleware = (context: ServiceContext, next: () => Promise<unknown>) => Promise<void>;

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

/**
 * The address that requests are counted by. Of IPv6 the first 64 bits, since one household has all that begin with them;
 * an IPv4 address in IPv6's clothes is that IPv4 address.
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
