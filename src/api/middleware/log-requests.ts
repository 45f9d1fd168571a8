import type { Service, ServiceContext } from '../app/service-context.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/** Machines ask for these all the time. */
const QUIET = new Set(['/health', '/ready', '/metrics']);

/** Where a path is longer, its rest tells nothing. */
const MOST_CHARACTERS = 200;

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
    path: path.length > MOST_CHARACTERS ? `${path.slice(0, MOST_CHARACTERS)}…` : path,
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
