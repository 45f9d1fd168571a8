import { requireOptional } from '../internal/optional.ts';

/** The purpose that messages about a missing package name. */
const FOR = 'for the HTTP service';

/** Loads Koa, the web framework. */
export function loadKoa(): typeof import('koa') {
  return requireOptional('koa', FOR) as typeof import('koa');
}

/** Loads Koa's router. */
export function loadRouter(): typeof import('@koa/router') {
  return requireOptional('@koa/router', FOR) as typeof import('@koa/router');
}

/** Loads the middleware that sets security headers. */
export function loadHelmet(): typeof import('koa-helmet') {
  return requireOptional('koa-helmet', FOR) as typeof import('koa-helmet');
}

/** Loads the middleware for cross-origin requests (CORS). */
export function loadCors(): typeof import('@koa/cors') {
  return requireOptional('@koa/cors', FOR) as typeof import('@koa/cors');
}

/** Loads the page of Swagger UI. */
export function loadSwaggerUi(): typeof import('koa2-swagger-ui') {
  return requireOptional('koa2-swagger-ui', FOR) as typeof import('koa2-swagger-ui');
}

/** Loads the parser of multipart forms. */
export function loadBusboy(): typeof import('@fastify/busboy') {
  return requireOptional('@fastify/busboy', FOR) as typeof import('@fastify/busboy');
}

/** Loads the least recently used (LRU) cache. */
export function loadLruCache(): typeof import('lru-cache') {
  return requireOptional('lru-cache', FOR) as typeof import('lru-cache');
}

/** Loads the Prometheus client. */
export function loadPromClient(): typeof import('prom-client') {
  return requireOptional('prom-client', FOR) as typeof import('prom-client');
}

/** Loads the rate limiter. */
export function loadRateLimiter(): typeof import('rate-limiter-flexible') {
  return requireOptional('rate-limiter-flexible', FOR) as typeof import('rate-limiter-flexible');
}
