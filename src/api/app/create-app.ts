import Koa from 'koa';
import type { Logger } from 'pino';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import type { Handler, RequestState, ServiceContext } from '../context/service-context.ts';
import { causesOf, writeProblem } from '../middleware/answer-problems.ts';
import { warnOfShortKeys } from '../middleware/authenticate.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { APP_OPTION_NAMES, type AppOptions, type ServiceApp, settingsOf } from './app-options.ts';
import { checkFolders, createOwner } from './create-owner.ts';
import { createProcessApp, embeddedLogger, logAppErrors } from './process-app.ts';

/** The default time that `close` waits for running work. */
const DRAIN_MILLIS = 30_000;

/**
 * Creates the service as a Koa app: every route of `/openapi.json`, with its own store, threads and limits. The app
 * does not listen until you call `listen`. You can mount the app in another app (koa-mount). In tests, you can send
 * requests to the app without a port (light-my-request).
 *
 * Work starts with the first request or `ready()`. `close()` stops the work and releases threads and temporary files.
 *
 * If EVENHAND_LOG_LEVEL, EVENHAND_LOG_FILE or EVENHAND_JSON_LOGS is set, the app logs a line for each response;
 * otherwise it logs only warnings and errors. If the service cannot start (for example because the folder of the store
 * is in use), all requests are answered with 503, and `ready()` rejects with the reason.
 * @throws {ValueError} if an option is out of range
 * @throws {ConfigValidationError} if a key is empty or cannot be sent in a header
 * @throws {DataValidationError} if `llmFolder` does not exist, or the path in a folder option is not a folder
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createApp } from 'evenhand/api';
 *
 * const app = createApp({ keys: [] });
 * const server = createServer(app.callback()).listen(0, '127.0.0.1');
 * await app.ready();
 * const answer = await fetch(`http://127.0.0.1:${server.address().port}/validate`, {
 *   method: 'POST',
 *   headers: { 'content-type': 'application/json' },
 *   body: JSON.stringify({ y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], threshold: 0.1, min_group_size: 2 }),
 * });
 * const { passed, verdict } = await answer.json();
 * console.log(answer.status, passed, verdict.status);
 * // 200 false fail
 * server.close();
 * await app.close();
 * ```
 */
export function createApp(options: AppOptions = {}): ServiceApp {
  assertKnownOptions('createApp', options, APP_OPTION_NAMES);
  // Checks the options before any work starts.
  const settings = settingsOf(options);
  const logger = embeddedLogger(settings.logger, process.env);
  warnOfShortKeys(settings.keys, logger);
  checkFolders(options, logger);
  let started: Promise<Started> | undefined;
  let closed: Promise<void> | undefined;
  let hasEnded = false;
  const start = (): Promise<Started> => {
    if (closed !== undefined) started ??= Promise.reject(new Error('The app was closed before it started.'));
    return (started ??= startParts(options, logger));
  };
  const app = new Koa<RequestState>();
  app.on('error', logAppErrors(logger));
  app.use(async (context) => {
    // Nothing may start after the app is closed: an upload would recreate the folder for uploads.
    if (hasEnded) {
      unavailable(context, 'The service has ended.');
      return;
    }
    const parts = await start().catch((error: unknown) => {
      logger.error({ cause: causesOf(error) }, 'the service cannot start');
    });
    if (parts !== undefined) await parts.handle(context);
    else unavailable(context, 'The service could not start.');
  });
  return Object.assign(app, {
    use: (middleware: Koa.Middleware<RequestState>) => {
      if (typeof middleware !== 'function') throw invalidParameter('middleware', 'be a function', middleware);
      app.middleware.splice(-1, 0, middleware);
      return app;
    },
    ready: async () => {
      await start();
    },
    close: (drainMillis = DRAIN_MILLIS) => {
      // A service that failed to start has nothing to close.
      closed ??= (started ?? Promise.resolve(undefined))
        .then(
          (parts) => parts?.close(drainMillis),
          () => undefined,
        )
        .finally(() => {
          hasEnded = true;
        });
      return closed;
    },
  });
}

function unavailable(context: ServiceContext, detail: string): void {
  writeProblem(context, new ServiceProblem(503, { detail, suggestion: 'See the log of the service for the reason.' }));
}

/** The parts of an app that has started. */
interface Started {
  readonly handle: Handler;
  readonly close: (drainMillis: number) => Promise<void>;
}

async function startParts(options: AppOptions, logger: Logger): Promise<Started> {
  const owner = await createOwner(options, logger);
  const { runs, streams, webhookSender, limiter, spoolFolder } = owner;
  const parts = { runs, streams, webhookSender, limiter, spoolFolder, logger, workerName: '1' };
  const { app, startEnding } = createProcessApp(options, parts);
  return {
    handle: app.compose(app.middleware),
    close: async (drainMillis) => {
      startEnding();
      await owner.close(drainMillis);
    },
  };
}
