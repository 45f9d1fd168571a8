import { createServer, type Socket } from 'node:net';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { readSecret } from '../../io/read-secret.ts';
import { settingsOf } from '../app/app-options.ts';
import { checkFolders, createOwner } from '../app/create-owner.ts';
import type { Owner } from '../context/service-context.ts';
import type { WorkerSettings } from '../cluster/protocol.ts';
import { serveRuns, serveStreams, serveWebhooks } from '../cluster/remote-runs.ts';
import { createWorkerGroup, type WorkerGroup } from '../cluster/worker-group.ts';
import { checkKeys, readKeys, warnOfShortKeys } from '../middleware/authenticate.ts';
import { MergedMetrics, type RenderedMetrics, ServiceMetrics } from '../middleware/metrics.ts';
import { allowedHostsOf, assertSafe, cannotListen } from './address.ts';
import { forkWorker } from './forked-worker.ts';
import { acceptWaiting, listenOn, type Position } from './http-server.ts';
import { createListeningApp } from './listening-app.ts';
import {
  createRunningService,
  type FilledServeOptions,
  type RunningService,
  SERVE_OPTION_NAMES,
  type ServeOptions,
  stopInOrder,
} from './running-service.ts';

const HOST = '127.0.0.1';
const PORT = 8000;
const DRAIN_MILLIS = 30_000;

/** One day. */
const MAX_DRAIN_MILLIS = 86_400_000;

/**
 * Starts the service: the app of `createApp` behind an HTTP server, in this process or in several. This function does
 * not install signal handlers; call `stop()` from your own handlers.
 *
 * An address that other machines can reach requires keys (`keys`, or EVENHAND_API_KEYS) or `insecure`. On a local
 * address without keys, the service answers only requests for a local host name or a name in `allowedHosts`. This
 * restriction protects against requests that other web pages cause.
 *
 * With several workers, this process owns the runs and answers no requests itself. The workers are child processes, and
 * this process passes its connections to them. A worker that ends is replaced; stored results are not lost.
 * @throws {ConfigValidationError} if the address is in use, not allowed, or public without keys
 * @throws {ValueError} if an option is out of range
 * @throws {DataValidationError} if the folder of the store cannot be used, or `llmFolder` does not exist
 */
export async function serve(options: ServeOptions = {}): Promise<RunningService> {
  assertKnownOptions('serve', options, SERVE_OPTION_NAMES);
  const { workers = 1 } = options;
  assertInteger('workers', workers, 1, 1024);
  const filled = fillOptions(options);
  // Reports invalid options once, before any worker starts.
  const { keys, logger } = settingsOf(filled);
  warnOfShortKeys(keys, logger);
  checkFolders(filled, logger);
  return workers === 1 ? serveHere(filled) : serveByWorkers(filled, workers);
}

function fillOptions(options: ServeOptions): FilledServeOptions {
  const { host = HOST, port = PORT, drainMillis = DRAIN_MILLIS, insecure = false } = options;
  assertInteger('port', port, 0, 65_535);
  assertInteger('drainMillis', drainMillis, 0, MAX_DRAIN_MILLIS);
  const keys = options.keys === undefined ? readKeys(process.env) : checkKeys(options.keys, 'The keys parameter');
  const exposure = { host, keys, insecure };
  assertSafe(exposure);
  // Workers do not inherit the variable.
  const webhookSecret = options.webhookSecret ?? readSecret(process.env, 'EVENHAND_WEBHOOK_SECRET');
  const allowedHosts = allowedHostsOf(exposure, options.allowedHosts);
  return { ...options, host, port, drainMillis, keys, allowedHosts, webhookSecret };
}

function assertInteger(name: string, value: number, min: number, most: number): void {
  if (Number.isInteger(value) && value >= min && value <= most) return;
  throw invalidParameter(name, `be a whole number from ${String(min)} to ${String(most)}`, value);
}

/** Runs the service in this process alone. */
async function serveHere(options: FilledServeOptions): Promise<RunningService> {
  const { host, drainMillis } = options;
  const owner = await createOwner(options);
  const { runs, streams, webhookSender, limiter, spoolFolder } = owner;
  try {
    const app = createListeningApp(options, { runs, streams, webhookSender, limiter, spoolFolder, workerName: '1' });
    const port = await app.server.listen(options).catch((cause: unknown) => {
      throw cannotListen(host, options.port, cause);
    });
    const ending = {
      isBusy: () => owner.isBusy(),
      refuseWork: () => {
        app.refuseWork();
      },
      drain: () => app.drain(),
      closeRuns: (millis: number) => owner.close(millis),
      end: app.server.end,
    };
    return createRunningService({ host, port, workers: 1, drainMillis, ending });
  } catch (error) {
    await owner.close(0);
    throw error;
  }
}

/**
 * Runs the service in several processes. This process owns the runs and the port, and passes each connection to a
 * worker, which answers its requests.
 */
async function serveByWorkers(options: FilledServeOptions, workers: number): Promise<RunningService> {
  const { host, drainMillis } = options;
  const door = new Door();
  const port = await door.listen(options).catch((cause: unknown) => {
    throw cannotListen(host, options.port, cause);
  });
  try {
    const owner = await createOwner(options);
    const group = startWorkers(options, workers, owner);
    door.open(group.give);
    const ending = {
      isBusy: () => owner.isBusy(),
      refuseWork: () => group.refuseWork(),
      drain: async () => {
        await door.close();
        await group.drain();
      },
      closeRuns: (millis: number) => owner.close(millis),
      end: group.end,
    };
    try {
      await group.started;
    } catch (error) {
      await stopInOrder(ending, 0);
      throw error;
    }
    return createRunningService({ host, port, workers, drainMillis, ending, failed: group.failed });
  } catch (error) {
    await door.close();
    throw error;
  }
}

function startWorkers(options: FilledServeOptions, count: number, owner: Owner): WorkerGroup {
  const logger = getLogger();
  const merged = new MergedMetrics();
  const own = new ServiceMetrics(() => owner.runs.counts());
  const runHandlers = serveRuns(owner);
  const streamHandlers = serveStreams(owner.streams);
  const webhookHandlers = serveWebhooks(owner.webhookSender);
  const renderMetrics = async (): Promise<RenderedMetrics> => {
    const [workers, primary] = await Promise.all([group.metrics(), own.toJson()]);
    return merged.render(new Map([...workers, ['primary', primary]]));
  };
  const group: WorkerGroup = createWorkerGroup({
    count,
    fork: forkWorker,
    handlersOf: (name) => ({
      ...runHandlers,
      ...streamHandlers,
      ...webhookHandlers,
      settings: () => settingsFor(name, options, owner),
      renderMetrics,
    }),
    onExit: (name, pid) => {
      void merged.bury(name);
      if (pid !== undefined) void owner.removeUploadsOf(pid);
    },
    logger,
    clock: machineClock,
  });
  return group;
}

function settingsFor(workerName: string, options: FilledServeOptions, owner: Owner): WorkerSettings {
  const { host: _, port: __, drainMillis: ___, insecure: ____, workers: _____, ...others } = options;
  // Only this process connects to Redis, and its URL may contain a password.
  const { redis: ______, redisPrefix: _______, work: ________, ...appOptions } = others;
  return {
    workerName,
    options: { ...appOptions, limits: settingsOf(options).limits },
    isLimited: owner.limiter !== null,
    spoolFolder: owner.spoolFolder,
    logLevel: getLogger().level,
  };
}

/**
 * A listening port whose connections are passed to other processes. This process reads nothing from these connections.
 */
class Door {
  #early: Socket[] = [];
  #give = (socket: Socket): unknown => this.#early.push(socket);
  readonly #server = createServer({ pauseOnConnect: true }, (socket) => {
    // A client that disconnects before anything is read is not an error.
    socket.on('error', () => undefined);
    this.#give(socket);
  });

  /** Returns the port; rejects with the error of Node.js. */
  listen(position: Position): Promise<number> {
    return listenOn(this.#server, position);
  }

  /** Sets the receiver of waiting and future connections. */
  open(give: (socket: Socket) => void): void {
    this.#give = give;
    this.#early.splice(0).forEach(give);
  }

  /** Accepts the connections that are already established, and then stops accepting connections. */
  async close(): Promise<void> {
    await acceptWaiting(this.#server);
    this.#server.close();
    for (const socket of this.#early) socket.destroy();
  }
}
