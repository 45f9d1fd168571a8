import { OPERATIONS } from '../routes/operation-ids.ts';

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
