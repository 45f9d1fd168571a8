import { requireOptional } from '../internal/packages.ts';

/** The optional packages of the service. */
interface ServicePackages {
  readonly '@fastify/busboy': typeof import('@fastify/busboy');
  readonly '@koa/cors': typeof import('@koa/cors');
  readonly '@koa/router': typeof import('@koa/router');
  readonly koa: typeof import('koa');
  readonly 'koa-helmet': typeof import('koa-helmet');
  readonly 'koa2-swagger-ui': typeof import('koa2-swagger-ui');
  readonly 'lru-cache': typeof import('lru-cache');
  readonly 'prom-client': typeof import('prom-client');
  readonly 'rate-limiter-flexible': typeof import('rate-limiter-flexible');
}

/**
 * Loads a package on first use.
 * @throws {DependencyError} if it is not installed
 */
export function loadPackage<Name extends keyof ServicePackages>(name: Name): ServicePackages[Name] {
  return requireOptional(name, 'for the HTTP service') as ServicePackages[Name];
}
