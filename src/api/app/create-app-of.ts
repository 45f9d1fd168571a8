import type Koa from 'koa';

import { serviceLayers } from '../middleware/service-layers.ts';
import type { ServiceMiddleware } from '../middleware/service-middleware.ts';
import { loadKoa, loadRouter } from '../packages.ts';
import { assetHandler } from '../routes/docs.ts';
import { handlersOf } from '../routes/handlers-of.ts';
import { OPERATIONS, type OperationId } from '../routes/operation-ids.ts';
import { logAppErrors } from './logging.ts';
import type { RequestState, Service, ServiceContext } from './service-context.ts';

/** The Koa app of one process: what stands around the routes, and the routes. */
export type ServiceKoa = Koa<RequestState> & {
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
