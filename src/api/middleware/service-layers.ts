import type { Service, ServiceContext } from '../context/service-context.ts';
import { loadCors, loadHelmet } from '../packages.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { answerProblems } from './answer-problems.ts';
import { authenticate } from './authenticate.ts';
import { countRequest, routeOfPath, type ServiceMiddleware } from './service-middleware.ts';

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what pages of other origins make a browser send. Two ways lead in from there: a request that changes something
 * and needs no answer to do so, and a name of the page's own that leads to this machine (DNS rebinding). The first is told
 * by Origin and Sec-Fetch-Site, the second by a Host that the service does not go by.
 */
export function sameOrigin({ allowedHosts, corsOrigins }: Service): ServiceMiddleware {
  const hosts = allowedHosts === null ? null : new Set(allowedHosts.map((host) => nameOf(host)));
  const origins = new Set(corsOrigins);
  return async (context, next) => {
    const host = context.req.headers.host ?? '';
    if (hosts !== null && !hosts.has(nameOf(host))) throw strangeHost();
    if (!READING.has(context.method) && isFromElsewhere(context, host, origins)) throw strangeOrigin();
    await next();
  };
}

/** A host without its port, as names are compared. */
function nameOf(host: string): string {
  const address = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1];
  // Several colons outside brackets are an IPv6 address, not a port.
  const name = address ?? (/^[^:]*:\d*$/.test(host) ? host.slice(0, host.indexOf(':')) : host);
  return name.toLowerCase();
}

function isFromElsewhere({ req }: ServiceContext, host: string, origins: ReadonlySet<string>): boolean {
  const { origin } = req.headers;
  if (origin !== undefined && origins.has(origin)) return false;
  const site = req.headers['sec-fetch-site'];
  // A browser's own word, which no page can write; a proxy may have changed the Host.
  if (site === 'same-origin') return false;
  if (site === 'cross-site' || site === 'same-site') return true;
  return origin !== undefined && hostOf(origin) !== host.toLowerCase();
}

/** Of `https://audit.example.com:8443` what a Host header would have; undefined for `null` and what is no origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function strangeHost(): ServiceProblem {
  return new ServiceProblem(403, {
    detail: 'The service does not go by the name in the Host header.',
    suggestion: 'Use the name it was started for, or start it with --allowed-host NAME for this one too.',
  });
}

function strangeOrigin(): ServiceProblem {
  return new ServiceProblem(403, {
    detail: 'A page of another origin may not change anything here.',
    suggestion: 'Start the service with --cors-origin ORIGIN to let the pages of an origin do so.',
  });
}

/** Machines ask for these all the time. */
const QUIET = new Set(['/health', '/ready', '/metrics']);

/** Where a path is longer, its rest tells nothing. */
const MAX_CHARACTERS = 200;

/** What is said of a client that went before it had its answer, as nginx does. */
const CLIENT_GONE = 499;

/**
 * One line for each answer, when its last byte is out or its client gone (status 499): who asked for what, and how it
 * went. Never what was sent or answered: no query, no body, no key. /health, /ready and /metrics are told at debug.
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
  return {
    method,
    path: path.length > MAX_CHARACTERS ? `${path.slice(0, MAX_CHARACTERS)}…` : path,
    route: state.route,
    status: isGone ? CLIENT_GONE : res.statusCode,
    ms: Math.round(millis * 100) / 100,
    bytes: bytesOf(res.getHeader('content-length')),
    request_id: state.requestId,
    worker,
    ...(state.client === '' ? {} : { client: state.client }),
  };
}

/** Of an answer whose length was not known beforehand, a stream, null. */
function bytesOf(length: number | string | string[] | undefined): number | null {
  return length === undefined ? null : Number(length);
}

/** Headers of requests and answers that pages of allowed origins may send and read. */
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

/** How long a browser may remember what it was allowed. */
const MAX_AGE_SECONDS = 600;

/**
 * Lets pages of the named origins read answers; null where none is named, so that the package is not loaded for nothing.
 * No cookies and no passwords of the browser: such a page shows a key of its own.
 */
export function crossOrigin({ corsOrigins }: Service): ServiceMiddleware | null {
  if (corsOrigins.length === 0) return null;
  const origins = new Set(corsOrigins);
  const cors = loadCors()({
    origin: (context) => {
      const origin = context.get('Origin');
      return origins.has(origin) ? origin : '';
    },
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
    // Problems are answered with the headers that are set by then.
    keepHeadersOnError: false,
  });
  return async (context, next) => {
    // What a page may read is not for its own origin only.
    if (origins.has(context.get('Origin'))) context.set('Cross-Origin-Resource-Policy', 'cross-origin');
    await cors(context, next);
  };
}

/** What a client may call its request: nothing that could break a line of the log or a header. */
const USABLE = /^[\w.-]{1,64}$/;

/**
 * Names each request, by the client's X-Request-Id where that is usable, and says on every answer which worker gave it.
 * The outermost middleware: what stands inside finds `state` filled.
 */
export function requestId({ createId, workerName }: Service): ServiceMiddleware {
  return async ({ req, res, path, state }, next) => {
    const given = req.headers['x-request-id'];
    state.requestId = typeof given === 'string' && USABLE.test(given) ? given : createId();
    state.client = '';
    state.route = routeOfPath(path);
    res.setHeader('X-Request-Id', state.requestId);
    res.setHeader('X-Evenhand-Worker', workerName);
    await next();
  };
}

/** What machines ask for all the time. */
const NOT_COUNTED = new Set(['/health', '/ready', '/metrics']);

/** Counts the requests of each client, and refuses those beyond the limit with 429. */
export function limitRate({ limiter }: Service): ServiceMiddleware {
  return async (context, next) => {
    if (limiter !== null && !NOT_COUNTED.has(context.path)) await countRequest(limiter, context);
    await next();
  };
}

/**
 * All that stands around the routes, the outermost first. Names come before what logs them, logs and metrics around what
 * answers problems, so that they see its status; who may not ask is refused before anything is counted or read.
 * @param observe the middleware of the service's metrics
 */
export function serviceLayers(service: Service, observe: ServiceMiddleware): readonly ServiceMiddleware[] {
  return [
    requestId(service),
    logRequests(service),
    observe,
    securityHeaders(),
    answerProblems(service),
    sameOrigin(service),
    crossOrigin(service),
    authenticate(service),
    limitRate(service),
  ].filter((layer) => layer !== null);
}

/**
 * Headers that keep a browser from doing anything with an answer but reading it: nothing may be loaded, framed, guessed
 * from its bytes or kept. Pages set a policy of their own afterwards. Nothing asks for HTTPS, which plain HTTP on one's own
 * machine has not; whoever ends TLS in front of the service says so there.
 */
export function securityHeaders(): ServiceMiddleware {
  // Asked anew for each answer: that takes 5 to 10 µs, and setting the same headers by ourselves 4 to 9.
  const helmet = (loadHelmet() as unknown as HelmetOfCommonJs)({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: false,
    // Browsers ignore these two, with a complaint, on plain HTTP from elsewhere.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    // For browsers that are gone.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xXssProtection: false,
  });
  return (context, next) => {
    context.res.setHeader('Cache-Control', 'no-store');
    return helmet(context, next);
  };
}

/** The package gives its function itself to `require`, whatever its types say. */
type HelmetOfCommonJs = (options: Readonly<Record<string, unknown>>) => ServiceMiddleware;
