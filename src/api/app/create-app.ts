import type { Middleware as KoaMiddleware } from 'koa';
import type { Logger } from 'pino';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import type { Handler, RequestState, ServiceContext } from '../context/service-context.ts';
import { causesOf, writeProblem } from '../middleware/answer-problems.ts';
import { warnOfShortKeys } from '../middleware/authenticate.ts';
import { loadKoa } from '../packages.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { APP_OPTION_NAMES, type AppOptions, type ServiceApp } from './app-options.ts';
import { checkFolders, createOwner } from './create-owner.ts';
import { createProcessApp, embeddedLogger, logAppErrors } from './process-app.ts';
import { settingsOf } from './settings-of.ts';

/** How long `close` waits for what is at work, unless said otherwise. */
const DRAIN_MILLIS = 30_000;

/**
 * The service as a Koa app: every route of `/openapi.json`, with its own store, threads and limits. It listens nowhere
 * until it is told to, so that it can be mounted in another app (koa-mount) or asked without a port in tests
 * (light-my-request).
 *
 * Work begins with the first request or `ready()`; `close()` ends it and lets go of threads and temporary files.
 *
 * Where EVENHAND_LOG_LEVEL, EVENHAND_LOG_FILE or EVENHAND_JSON_LOGS is set it logs a line for each answer, else warnings and
 * errors alone. What cannot start (a store's folder in use, say) answers 503, and `ready()` rejects with why.
 * @throws {DependencyError} where the packages of the service are not installed
 * @throws {ValueError} for an option out of range
 * @throws {ConfigValidationError} for a key that is empty or that no header can carry
 * @throws {DataValidationError} for an `llmFolder` that is not there, or a folder that is none
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
 * console.log(answer.status, passed, verdict.message);
 * // 200 false FAIL: demographic_parity_difference 0.5000 > 0.1.
 * server.close();
 * await app.close();
 * ```
 */
export function createApp(options: AppOptions = {}): ServiceApp {
  assertKnownOptions('createApp', options, APP_OPTION_NAMES);
  const Koa = loadKoa();
  // Told before anything is begun: an option out of range, say.
  const settings = settingsOf(options);
  const logger = embeddedLogger(settings.logger, process.env);
  warnOfShortKeys(settings.keys, logger);
  checkFolders(options, logger);
  let started: Promise<Started> | undefined;
  let closed: Promise<void> | undefined;
  let hasEnded = false;
  const start = (): Promise<Started> => (started ??= closed === undefined ? startParts(options, logger) : refuse());
  const app = new Koa<RequestState>();
  app.on('error', logAppErrors(logger));
  app.use(async (context) => {
    // Afterwards nothing may be begun: an upload would make its folder anew.
    if (hasEnded) {
      unavailable(context, 'The service has ended.');
      return;
    }
    const { handle } = await start().catch((error: unknown) => {
      logger.error({ cause: causesOf(error) }, 'the service cannot start');
      return { handle: answerNotStarted };
    });
    await handle(context);
  });
  return Object.assign(app, {
    use: (middleware: KoaMiddleware<RequestState>) => {
      if (typeof middleware !== 'function') throw invalidParameter('middleware', 'be a function', middleware);
      app.middleware.splice(-1, 0, middleware);
      return app;
    },
    ready: async () => {
      await start();
    },
    close: (drainMillis = DRAIN_MILLIS) => {
      // What could not start has nothing to close.
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
  }) as unknown as ServiceApp;
}

function refuse(): Promise<Started> {
  return Promise.reject(new Error('The app was closed before it began.'));
}

/** What is answered where the service cannot start; `ready()` tells why. */
const answerNotStarted: Handler = (context) => {
  unavailable(context, 'The service could not start.');
};

function unavailable(context: ServiceContext, detail: string): void {
  writeProblem(context, new ServiceProblem(503, { detail, suggestion: 'The log of the service tells why.' }));
}

/** The parts of an app that has begun. */
interface Started {
  readonly handle: Handler;
  readonly close: (drainMillis: number) => Promise<void>;
}

async function startParts(options: AppOptions, logger: Logger): Promise<Started> {
  const owner = await createOwner(options, logger);
  const { runs, limiter, spoolFolder } = owner;
  const parts = { runs, limiter, spoolFolder, logger, workerName: '1' };
  const { app, startEnding } = createProcessApp(options, parts);
  return {
    handle: app.compose(app.middleware),
    close: async (drainMillis) => {
      startEnding();
      await owner.close(drainMillis);
    },
  };
}
