import cors from '@koa/cors';
import koaHelmet from 'koa-helmet';

import type { Service, ServiceContext } from '../context/service-context.ts';
import { serviceEnds, ServiceProblem, shorten } from '../problem/service-problem.ts';
import { answerProblems } from './answer-problems.ts';
import { authenticate } from './authenticate.ts';
import { countRequest, routeOfPath, type ServiceMiddleware } from './service-middleware.ts';

/**
 * Removes the base path from the path of a request. A proxy that removes it has the same effect, so both kinds of proxies
 * work.
 */
function stripBasePath({ basePath }: Service): ServiceMiddleware | null {
  if (basePath === '') return null;
  return async (context, next) => {
    const { path } = context;
    if (path === basePath || path.startsWith(`${basePath}/`)) context.path = path.slice(basePath.length) || '/';
    await next();
  };
}

/** Methods without side effects. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Rejects requests that a web page from another origin caused the browser to send. There are two such attacks: a
 * request that changes something, whose response the attacker does not need (CSRF), and an attacker's host name that
 * resolves to this machine (DNS rebinding). CSRF is detected from Origin and Sec-Fetch-Site. DNS rebinding is detected
 * from a Host that is not allowed.
 */
export function sameOrigin({ allowedHosts, corsOrigins }: Service): ServiceMiddleware {
  const hosts = allowedHosts === null ? null : new Set(allowedHosts.map((host) => nameOf(host)));
  const origins = new Set(corsOrigins);
  return async (context, next) => {
    const host = context.req.headers.host ?? '';
    if (hosts !== null && !hosts.has(nameOf(host))) {
      throw new ServiceProblem(403, {
        detail: 'The name in the Host header is not allowed.',
        suggestion: 'Use the name that the service was started with, or allow this one with --allowed-host NAME.',
      });
    }
    if (!READING.has(context.method) && isFromElsewhere(context, host, origins)) {
      throw new ServiceProblem(403, {
        detail: 'Pages of other origins may not send requests that change something.',
        suggestion: 'Start the service with --cors-origin ORIGIN to allow the pages of an origin.',
      });
    }
    await next();
  };
}

/** Returns a host without its port, for comparison. */
function nameOf(host: string): string {
  const address = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1];
  // Several colons without brackets are an IPv6 address without a port.
  const name = address ?? (/^[^:]*:\d*$/.test(host) ? host.slice(0, host.indexOf(':')) : host);
  return name.toLowerCase();
}

function isFromElsewhere({ req }: ServiceContext, host: string, origins: ReadonlySet<string>): boolean {
  const { origin } = req.headers;
  if (origin !== undefined && origins.has(origin)) return false;
  const site = req.headers['sec-fetch-site'];
  // Browsers set Sec-Fetch-Site and pages cannot change it; a proxy may have changed the Host.
  if (site === 'same-origin') return false;
  if (site === 'cross-site' || site === 'same-site') return true;
  // An origin is compared by its host, such as `audit.example.com:8443`.
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host.toLowerCase());
}

/** Paths that monitoring systems request frequently. */
const QUIET = new Set(['/health', '/ready', '/metrics']);

/** The maximum length of a logged path. */
const MAX_CHARACTERS = 200;

/** The status that is logged if a client disconnected before the response was complete, as in nginx. */
const CLIENT_GONE = 499;

/**
 * Logs one line for each answer, when the last byte was sent or the client disconnected (status 499): the client, the
 * request and the outcome. Queries, bodies and keys are never logged. /health, /ready and /metrics are logged at debug
 * level.
 */
export function logRequests({ logger, workerName }: Service): ServiceMiddleware {
  return async (context, next) => {
    const level = QUIET.has(context.path) ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      const start = performance.now();
      context.res.once('close', () => {
        logger[level](lineOf(context, performance.now() - start, workerName), 'answered');
      });
    }
    await next();
  };
}

function lineOf(context: ServiceContext, millis: number, worker: string): Record<string, unknown> {
  const { method, path, state, res } = context;
  const isGone = !res.writableEnded;
  const length = res.getHeader('content-length');
  return {
    method,
    path: shorten(path, MAX_CHARACTERS),
    route: state.route,
    status: isGone ? CLIENT_GONE : res.statusCode,
    ms: Math.round(millis * 100) / 100,
    // The length is not known in advance for a stream.
    bytes: length === undefined ? null : Number(length),
    request_id: state.requestId,
    worker,
    ...(state.client === '' ? {} : { client: state.client }),
  };
}

/** The headers that pages of allowed origins may send and read. */
const ALLOWED = ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'Prefer', 'X-Request-Id'];
const EXPOSED = [
  'Content-Disposition',
  'Idempotency-Replayed',
  'Location',
  'Preference-Applied',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Evenhand-Worker',
  'X-Request-Id',
];

/** The time for which a browser may cache a preflight answer. */
const MAX_AGE_SECONDS = 600;

/**
 * Allows pages of the given origins to read answers (CORS). Returns null if there are no origins. Cookies and stored
 * passwords are not accepted: such a page must send a key.
 */
export function crossOrigin({ corsOrigins }: Service): ServiceMiddleware | null {
  if (corsOrigins.length === 0) return null;
  const origins = new Set(corsOrigins);
  const answer = cors({
    origin: (context) => {
      const origin = context.get('Origin');
      return origins.has(origin) ? origin : '';
    },
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
    // Problem responses keep the headers that are already set.
    keepHeadersOnError: false,
  });
  return async (context, next) => {
    // The pages of allowed origins may read this answer too.
    if (origins.has(context.get('Origin'))) context.set('Cross-Origin-Resource-Policy', 'cross-origin');
    await answer(context, next);
  };
}

/** Matches accepted request IDs. Their characters are safe in log lines and headers. */
const USABLE = /^[\w.-]{1,64}$/;

/**
 * Sets the ID of each request, and adds the worker's name to every answer. The ID is the client's X-Request-Id if that
 * header is valid. This is the outermost middleware, so `state` is set for all other middleware.
 */
export function requestId({ createId, workerName }: Service): ServiceMiddleware {
  return async ({ req, res, path, state }, next) => {
    const given = req.headers['x-request-id'];
    state.requestId = typeof given === 'string' && USABLE.test(given) ? given : createId();
    state.client = '';
    state.tenant = '';
    state.route = routeOfPath(path);
    res.setHeader('X-Request-Id', state.requestId);
    res.setHeader('X-Evenhand-Worker', workerName);
    await next();
  };
}

/** Counts the requests of each client, except requests to quiet paths. Rejects requests above the limit with 429. */
export function limitRate({ limiter }: Service): ServiceMiddleware {
  return async (context, next) => {
    if (limiter !== null && !QUIET.has(context.path)) await countRequest(limiter, context);
    await next();
  };
}

/**
 * Refuses requests that start work while the service waits for its last runs. Results, readiness and cancellations are
 * still answered.
 */
function refuseLateWork({ refusesWork }: Service): ServiceMiddleware {
  return async (context, next) => {
    if (context.method === 'POST' && refusesWork()) throw serviceEnds();
    await next();
  };
}

/**
 * Returns all middleware that runs before the routes, the outermost first. Request IDs are set before anything is
 * logged. Logs and metrics come before the conversion of errors to problems, so that they record the final status.
 * Requests are authenticated before they are counted or read.
 * @param observe the middleware of the service's metrics
 */
export function serviceLayers(service: Service, observe: ServiceMiddleware): readonly ServiceMiddleware[] {
  return [
    stripBasePath(service),
    requestId(service),
    logRequests(service),
    observe,
    securityHeaders(),
    answerProblems(service),
    sameOrigin(service),
    crossOrigin(service),
    authenticate(service),
    limitRate(service),
    refuseLateWork(service),
  ].filter((layer) => layer !== null);
}

/**
 * Sets headers that restrict what a browser may do with an answer: nothing may be loaded, framed, sniffed or cached.
 * Routes that return pages replace the content security policy. HTTPS is not enforced, because a local service uses
 * plain HTTP; a proxy that terminates TLS should set Strict-Transport-Security.
 */
export function securityHeaders(): ServiceMiddleware {
  // Helmet runs for each response and takes 5 to 10 µs. Setting the same headers directly takes 4 to 9 µs.
  const helmet: ServiceMiddleware = koaHelmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: false,
    // Browsers ignore the next two headers on plain HTTP from other machines, and log a warning.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    // Only obsolete browsers use this header.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xXssProtection: false,
  });
  return (context, next) => {
    context.res.setHeader('Cache-Control', 'no-store');
    return helmet(context, next);
  };
}
