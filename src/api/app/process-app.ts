import type Koa from 'koa';
import type { Logger } from 'pino';

import { isLoggingAskedFor } from '../../internal/logger.ts';
import type { RequestState, Service, ServiceContext } from '../context/service-context.ts';
import { causesOf } from '../middleware/answer-problems.ts';
import { createServiceMetrics, type RenderedMetrics, type ServiceMetrics } from '../middleware/metrics.ts';
import { serviceLayers } from '../middleware/service-layers.ts';
import type { ServiceMiddleware } from '../middleware/service-middleware.ts';
import { type OperationId, OPERATIONS } from '../openapi/operation-ids.ts';
import { loadKoa, loadRouter } from '../packages.ts';
import { assetHandler } from '../routes/docs.ts';
import { handlersOf } from '../routes/handlers-of.ts';
import type { AppOptions } from './app-options.ts';
import { settingsOf } from './settings-of.ts';

/** What the system and Node call a client that has gone. */
const CLIENT_GONE = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

/**
 * Tells of errors that come when an answer is on its way already, which Koa would print: its `error` event. A client that
 * goes in the middle of a stream is no error.
 */
export function logAppErrors(logger: Logger): (error: unknown) => void {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (CLIENT_GONE.has(code)) logger.debug({ code }, 'a client has gone before the end of its answer');
    else logger.error({ cause: causesOf(error) }, 'an answer could not be sent');
  };
}

/** The logger of an app inside another program, whose output its lines would fill: warnings and errors, unless more was asked for. */
export function embeddedLogger(logger: Logger, environment: Readonly<Record<string, string | undefined>>): Logger {
  const isQuiet = !isLoggingAskedFor(environment) && logger.isLevelEnabled('info');
  return isQuiet ? logger.child({}, { level: 'warn' }) : logger;
}

/** What a process that answers requests is given beside its options. */
export type ProcessParts = Pick<Service, 'runs' | 'limiter' | 'spoolFolder' | 'workerName'> & {
  /** The metrics of the whole service; unset where this process is all of it. */
  readonly renderMetrics?: () => Promise<RenderedMetrics>;
  /** Unset for the package's. */
  readonly logger?: Logger;
};

/** The app of one process, with what it counts. */
export interface ProcessApp {
  readonly app: ServiceKoa;
  readonly metrics: ServiceMetrics;
  /** From now on the app is not ready for more. */
  readonly startEnding: () => void;
}

/** Makes the app of one process from its options and what it shares with others. */
export function createProcessApp(options: AppOptions, parts: ProcessParts): ProcessApp {
  const { runs, renderMetrics } = parts;
  const metrics = createServiceMetrics(() => runs.counts());
  let isEnding = false;
  const service: Service = {
    ...settingsOf(options),
    ...parts,
    renderMetrics: renderMetrics ?? (() => metrics.render()),
    notReady: () => (isEnding ? 'The service is ending.' : null),
  };
  return {
    app: createAppOf(service, metrics.middleware),
    metrics,
    startEnding: () => {
      isEnding = true;
    },
  };
}

/** The Koa app of one process: what stands around the routes, and the routes. */
type ServiceKoa = Koa<RequestState> & {
  /** Makes one of several; missing in the types of Koa. */
  readonly compose: (middleware: readonly Koa.Middleware<RequestState>[]) => (context: ServiceContext) => Promise<void>;
};

/**
 * Makes the app of a service whose parts are there.
 * @param observe the middleware of the process' metrics
 */
export function createAppOf(service: Service, observe: ServiceMiddleware): ServiceKoa {
  const Koa = loadKoa();
  const app = new Koa<RequestState>() as ServiceKoa;
  for (const layer of serviceLayers(service, observe)) app.use(layer);
  app.use(routesOf(service));
  app.on('error', logAppErrors(service.logger));
  return app;
}

/** Every operation at its path, and the files of the documentation's pages. */
function routesOf(service: Service): Koa.Middleware<RequestState> {
  const { Router } = loadRouter();
  const router = new Router<RequestState>();
  const handlers = handlersOf(service);
  for (const [id, [method, path]] of Object.entries(OPERATIONS)) {
    const handle = handlers[id as OperationId];
    router[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) => handle(context));
  }
  const asset = assetHandler();
  router.get('/docs/assets/:version/:file', (context) => asset(context));
  return router.routes() as Koa.Middleware<RequestState>;
}
