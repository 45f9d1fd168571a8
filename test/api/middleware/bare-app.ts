import type { RequestListener } from 'node:http';

import Koa from 'koa';
import inject, { type InjectOptions, type Response } from 'light-my-request';
import { pino } from 'pino';

import { DEFAULT_LIMITS, type Handler, type Service } from '../../../src/api/context/service-context.ts';
import type { ServiceMiddleware } from '../../../src/api/middleware/service-middleware.ts';

/** A fixed clock: half past nine. */
const MORNING = Date.UTC(2026, 0, 31, 9, 30);

/** Creates a service with only the parts that a test names. All other calls of its runs throw. */
export function serviceWith(parts: Partial<Service> = {}): Service {
  let ids = 0;
  return {
    runs: new Proxy({}, { get: () => () => Promise.reject(new Error('no runs here')) }) as Service['runs'],
    streams: new Proxy({}, { get: () => () => Promise.reject(new Error('no streams here')) }) as Service['streams'],
    limiter: null,
    limits: DEFAULT_LIMITS,
    keys: [],
    corsOrigins: [],
    allowedHosts: null,
    monitorFolder: null,
    llmFolder: null,
    webhooks: { hosts: [], secret: '' },
    webhookSender: { add: () => Promise.reject(new Error('no webhooks here')) },
    spoolFolder: '/nowhere',
    basePath: '',
    workerName: 'worker-1',
    logger: pino({ level: 'silent' }),
    clock: () => MORNING,
    createId: () => `id-${String(++ids)}`,
    renderMetrics: () => Promise.resolve({ text: '', contentType: 'text/plain' }),
    notReady: () => null,
    refusesWork: () => false,
    ...parts,
  };
}

/** Creates a logger that stores its lines. */
export function keptLogger(level = 'debug'): { readonly logger: Service['logger']; readonly lines: string[] } {
  const lines: string[] = [];
  return { logger: pino({ level, base: null }, { write: (line: string) => void lines.push(line) }), lines };
}

/** Creates an app with middleware around one handler, which listens on no port. */
export function bareApp(layers: readonly ServiceMiddleware[], handler: Handler): RequestListener {
  const app = new Koa();
  app.silent = true;
  for (const layer of layers) app.use(layer);
  app.use(async (context) => {
    await handler(context);
  });
  const answer = app.callback();
  return (request, response) => {
    void answer(request, response);
  };
}

/** Sends a request to an app without a port. */
export function ask(app: RequestListener, request: InjectOptions): Promise<Response> {
  return inject(app, request);
}

/** Sets the state that `requestId` would set, for middleware that is tested alone. */
export function withState(
  state: Partial<{ requestId: string; client: string; route: string }> = {},
): ServiceMiddleware {
  return async (context, next) => {
    Object.assign(context.state, { requestId: 'request-1', client: '', tenant: '', route: 'unmatched', ...state });
    await next();
  };
}
