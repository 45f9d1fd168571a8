import type { AppOptions } from '../app/app-options.ts';
import { createProcessApp, type ProcessParts } from '../app/process-app.ts';
import type { ServiceMetrics } from '../middleware/metrics.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';

/** The app of one process and its server. */
export interface ListeningApp {
  readonly server: HttpServer;
  readonly metrics: ServiceMetrics;
  /** Refuses requests that start work, and makes `GET /ready` answer so. Results are still answered. */
  refuseWork(): void;
  /** Closes the server gracefully, and makes `GET /ready` answer that the app accepts no new work. */
  drain(): Promise<void>;
}

/** Creates the app and its server, which does not listen yet. */
export function createListeningApp(options: AppOptions, parts: ProcessParts): ListeningApp {
  const { app, metrics, startEnding, refuseWork } = createProcessApp(options, parts);
  const handle = app.callback();
  const server = createHttpServer((request, response) => {
    void handle(request, response);
  });
  return {
    server,
    metrics,
    refuseWork,
    drain: () => {
      startEnding();
      return server.drain();
    },
  };
}
