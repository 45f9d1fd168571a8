import type { RequestListener } from 'node:http';

import Koa from 'koa';
import inject, { type InjectOptions, type Response } from 'light-my-request';
import { pino } from 'pino';

import { DEFAULT_LIMITS, type Handler, type Service } from '../../../src/api/context/service-context.ts';
import type { ServiceMiddleware } from '../../../src/api/middleware/service-middleware.ts';

/** Half past nine, for whoever asks. */
const MORNING = Date.UTC(2026, 0, 31, 9, 30);

/** A service of which only what a test names is there; whatever else is asked of its runs throws. */
export function serviceWith(parts: Partial<Service> = {}): Service {
  let ids = 0;
  return {
    runs: new Proxy({}, { get: () => () => Promise.reject(new Error('no runs here')) }) as Service['runs'],
    limiter: null,
    limits: DEFAULT_LIMITS,
    keys: [],
    corsOrigins: [],
    allowedHosts: null,
    monitorFolder: null,
    llmFolder: null,
    spoolFolder: '/nowhere',
    basePath: '',
    workerName: 'worker-1',
    logger: pino({ level: 'silent' }),
    clock: () => MORNING,
    createId: () => `id-${String(++ids)}`,
    renderMetrics: () => Promise.resolve({ text: '', contentType: 'text/plain' }),
    notReady: () => null,
    ...parts,
  };
}

/** A logger whose lines are kept. */
export function keptLogger(level = 'debug'): { readonly logger: Service['logger']; readonly lines: string[] } {
  const lines: string[] = [];
  return { logger: pino({ level, base: null }, { write: (line: string) => void lines.push(line) }), lines };
}

/** Middleware around one handler, in an app that listens nowhere. */
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

/** Asks an app without a port. */
export function ask(app: RequestListener, request: InjectOptions): Promise<Response> {
  return inject(app, request);
}

/** The state that `requestId` would have filled, for middleware that is tested alone. */
export function withState(
  state: Partial<{ requestId: string; client: string; route: string }> = {},
): ServiceMiddleware {
  return async (context, next) => {
    Object.assign(context.state, { requestId: 'request-1', client: '', route: 'unmatched', ...state });
    await next();
  };
}
