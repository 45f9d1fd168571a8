import { requireOptional } from '../internal/optional.ts';

/** Why the packages are asked for, in messages. */
const FOR = 'for the HTTP service';

/** Koa, the web framework. */
export function loadKoa(): typeof import('koa') {
  return requireOptional('koa', FOR) as typeof import('koa');
}

/** Koa's router. */
export function loadRouter(): typeof import('@koa/router') {
  return requireOptional('@koa/router', FOR) as typeof import('@koa/router');
}

/** Headers that keep browsers from doing harm. */
export function loadHelmet(): typeof import('koa-helmet') {
  return requireOptional('koa-helmet', FOR) as typeof import('koa-helmet');
}

/** Answers to browsers that ask from another origin. */
export function loadCors(): typeof import('@koa/cors') {
  return requireOptional('@koa/cors', FOR) as typeof import('@koa/cors');
}

/** Swagger UI's page. */
export function loadSwaggerUi(): typeof import('koa2-swagger-ui') {
  return requireOptional('koa2-swagger-ui', FOR) as typeof import('koa2-swagger-ui');
}

/** The parser of forms. */
export function loadBusboy(): typeof import('@fastify/busboy') {
  return requireOptional('@fastify/busboy', FOR) as typeof import('@fastify/busboy');
}

/** The least recently used cache. */
export function loadLruCache(): typeof import('lru-cache') {
  return requireOptional('lru-cache', FOR) as typeof import('lru-cache');
}

/** Prometheus' client. */
export function loadPromClient(): typeof import('prom-client') {
  return requireOptional('prom-client', FOR) as typeof import('prom-client');
}

/** The limiter of rates. */
export function loadRateLimiter(): typeof import('rate-limiter-flexible') {
  return requireOptional('rate-limiter-flexible', FOR) as typeof import('rate-limiter-flexible');
}
