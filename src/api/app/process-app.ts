import { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';

import { isLoggingAskedFor } from '../../internal/logger.ts';
import type { RequestState, Service, ServiceContext } from '../context/service-context.ts';
import { causesOf } from '../middleware/answer-problems.ts';
import { type RenderedMetrics, ServiceMetrics } from '../middleware/metrics.ts';
import { serviceLayers } from '../middleware/service-layers.ts';
import type { ServiceMiddleware } from '../middleware/service-middleware.ts';
import { type OperationId, OPERATIONS } from '../openapi/operation-ids.ts';
import { assetHandler } from '../routes/docs.ts';
import { handlersOf } from '../routes/handlers-of.ts';
import { WORKBENCH_PATHS, workbenchHandler } from '../routes/workbench.ts';
import { type AppOptions, settingsOf } from './app-options.ts';

/** Error codes for a connection that the client closed. The codes come from the operating system or from Node.js. */
const CLIENT_GONE = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

/**
 * Logs errors that occur while a response is being sent. By default, Koa prints these `error` events. A client that
 * disconnects during a stream is not an error.
 */
export function logAppErrors(logger: Logger): (error: unknown) => void {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (CLIENT_GONE.has(code)) logger.debug({ code }, 'a client disconnected before the end of its answer');
    else logger.error({ cause: causesOf(error) }, 'an answer could not be sent');
  };
}

/**
 * Returns the logger for an app that is embedded in another program. The logger logs only warnings and errors, unless
 * the environment configures logging.
 */
export function embeddedLogger(logger: Logger, environment: Readonly<Record<string, string | undefined>>): Logger {
  const isQuiet = !isLoggingAskedFor(environment) && logger.isLevelEnabled('info');
  return isQuiet ? logger.child({}, { level: 'warn' }) : logger;
}

/** Everything that a process needs to answer requests, except the options of the app. */
export type ProcessParts = Pick<
  Service,
  'runs' | 'streams' | 'webhookSender' | 'limiter' | 'spoolFolder' | 'workerName'
> & {
  /** Renders the metrics of all processes of the service. Undefined if the service has only this process. */
  readonly renderMetrics?: () => Promise<RenderedMetrics>;
  /** The logger. The default is the logger of the package. */
  readonly logger?: Logger;
};

/** The app of one process, with its counters. */
export interface ProcessApp {
  readonly app: ServiceKoa;
  readonly metrics: ServiceMetrics;
  /** Makes `GET /ready` answer that the app does not accept new work. */
  readonly startEnding: () => void;
  /** Refuses requests that start work, and calls `startEnding`. Everything else is still answered. */
  readonly refuseWork: () => void;
}

/** Creates the app of one process from the options and from the parts that all processes share. */
export function createProcessApp(options: AppOptions, parts: ProcessParts): ProcessApp {
  const { runs, renderMetrics } = parts;
  const metrics = new ServiceMetrics(() => runs.counts());
  let isEnding = false;
  let isRefusing = false;
  const service: Service = {
    ...settingsOf(options),
    ...parts,
    renderMetrics: renderMetrics ?? (() => metrics.render()),
    notReady: () => (isEnding ? 'The service is shutting down.' : null),
    refusesWork: () => isRefusing,
  };
  return {
    app: createAppOf(service, metrics.middleware),
    metrics,
    startEnding: () => {
      isEnding = true;
    },
    refuseWork: () => {
      isEnding = true;
      isRefusing = true;
    },
  };
}

/** The Koa app of one process: middleware and routes. */
type ServiceKoa = Koa<RequestState> & {
  /** Combines several middleware functions into one. The types of Koa lack this method. */
  readonly compose: (middleware: readonly Koa.Middleware<RequestState>[]) => (context: ServiceContext) => Promise<void>;
};

/**
 * Creates the Koa app of a service.
 * @param observe the middleware that collects the metrics of this process
 */
export function createAppOf(service: Service, observe: ServiceMiddleware): ServiceKoa {
  const app = new Koa<RequestState>() as ServiceKoa;
  for (const layer of serviceLayers(service, observe)) app.use(layer);
  app.use(routesOf(service));
  app.on('error', logAppErrors(service.logger));
  return app;
}

/** Returns the middleware that serves every operation at its path, the workbench, and the files of the pages. */
function routesOf(service: Service): Koa.Middleware<RequestState> {
  const router = new Router<RequestState>();
  const handlers = handlersOf(service);
  for (const [id, [method, path]] of Object.entries(OPERATIONS)) {
    const handle = handlers[id as OperationId];
    router[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) => handle(context));
  }
  const asset = assetHandler();
  router.get('/docs/assets/:version/:file', (context) => asset(context));
  const workbench = workbenchHandler(service);
  for (const path of WORKBENCH_PATHS) router.get(path, (context) => workbench(context));
  return router.routes() as Koa.Middleware<RequestState>;
}
