import type { Service } from '../app/service-context.ts';
import { routeOfPath } from './known-routes.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

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
