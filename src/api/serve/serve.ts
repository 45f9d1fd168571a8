import { createServer, type Socket } from 'node:net';
import path from 'node:path';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { checkFolders, createOwner, type Owner } from '../app/create-owner.ts';
import { settingsOf } from '../app/settings-of.ts';
import { createMergedMetrics } from '../cluster/merged-metrics.ts';
import type { WorkerSettings } from '../cluster/protocol.ts';
import { serveRuns } from '../cluster/serve-runs.ts';
import { createWorkerGroup, type WorkerGroup } from '../cluster/worker-group.ts';
import { checkKeys, readKeys, warnOfShortKeys } from '../middleware/authenticate.ts';
import { createServiceMetrics, type RenderedMetrics } from '../middleware/metrics.ts';
import { loadKoa } from '../packages.ts';
import { allowedHostsOf, assertSafe, cannotListen } from './address.ts';
import { forkWorker } from './forked-worker.ts';
import { acceptWaiting, type Place } from './http-server.ts';
import { createListeningApp } from './listening-app.ts';
import { createRunningService, stopInOrder } from './running-service.ts';
import {
  type FilledServeOptions,
  type RunningService,
  SERVE_OPTION_NAMES,
  type ServeOptions,
} from './serve-options.ts';

const HOST = '127.0.0.1';
const PORT = 8000;
const DRAIN_MILLIS = 30_000;

/** A day. */
const MAX_DRAIN_MILLIS = 86_400_000;

/**
 * Starts the service: the app of `createApp` behind an HTTP server, in this process or in several. It installs no handlers
 * of signals; call `stop()` from yours.
 *
 * An address that other machines reach needs keys (`keys`, or EVENHAND_API_KEYS) or `insecure`. Without keys, on a local
 * address, only requests for a local name are answered (`allowedHosts` names more), so that pages elsewhere cannot ask.
 *
 * With several workers this process owns the runs and answers no requests itself; a worker that ends is replaced, and
 * nothing that is kept is lost with it. They are child processes that this one hands its connections to.
 * @throws {ConfigValidationError} for an address that is in use, not allowed, or public without keys
 * @throws {ValueError} for an option out of range
 * @throws {DataValidationError} for a store's folder that cannot be used, an `llmFolder` that is not there
 * @throws {DependencyError} where the packages of the service are not installed
 */
export async function serve(options: ServeOptions = {}): Promise<RunningService> {
  assertKnownOptions('serve', options, SERVE_OPTION_NAMES);
  const { workers = 1 } = options;
  assertWhole('workers', workers, 1, 1024);
  const filled = fillOptions(options);
  // Told before anything is begun, and once, not by each worker.
  const { keys, logger } = settingsOf(filled);
  warnOfShortKeys(keys, logger);
  checkFolders(filled, logger);
  loadKoa();
  return workers === 1 ? serveHere(filled) : serveByWorkers(filled, workers);
}

function fillOptions(options: ServeOptions): FilledServeOptions {
  const { host = HOST, port = PORT, drainMillis = DRAIN_MILLIS, insecure = false } = options;
  assertWhole('port', port, 0, 65_535);
  assertWhole('drainMillis', drainMillis, 0, MAX_DRAIN_MILLIS);
  const keys = options.keys === undefined ? readKeys(process.env) : checkKeys(options.keys, 'The keys parameter');
  const exposure = { host, keys, insecure };
  assertSafe(exposure);
  return { ...options, host, port, drainMillis, keys, allowedHosts: allowedHostsOf(exposure, options.allowedHosts) };
}

function assertWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw invalidParameter(name, `be a whole number from ${String(least)} to ${String(most)}`, value);
}

/** The service in this process alone. */
async function serveHere(options: FilledServeOptions): Promise<RunningService> {
  const { host, drainMillis } = options;
  const owner = await createOwner(options);
  const { runs, limiter, spoolFolder } = owner;
  try {
    const app = createListeningApp(options, { runs, limiter, spoolFolder, workerName: '1' });
    const port = await app.server.listen(options).catch((cause: unknown) => {
      throw cannotListen(host, options.port, cause);
    });
    const ending = {
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
 * The service in several processes: this one owns the runs and the port, and hands each connection to a worker, which
 * answers its requests.
 */
async function serveByWorkers(options: FilledServeOptions, workers: number): Promise<RunningService> {
  const { host, drainMillis } = options;
  const door = createDoor();
  const port = await door.listen(options).catch((cause: unknown) => {
    throw cannotListen(host, options.port, cause);
  });
  try {
    const owner = await createOwner(options);
    const group = startWorkers(options, workers, owner);
    door.open(group.give);
    const ending = {
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
  const merged = createMergedMetrics();
  const own = createServiceMetrics(() => owner.runs.counts());
  const runHandlers = serveRuns(owner);
  const renderMetrics = async (): Promise<RenderedMetrics> => {
    const [workers, primary] = await Promise.all([group.metrics(), own.toJson()]);
    return merged.render(new Map([...workers, ['primary', primary]]));
  };
  const group: WorkerGroup = createWorkerGroup({
    count,
    fork: forkWorker,
    handlersOf: (name) => ({ ...runHandlers, settings: () => settingsFor(name, options, owner), renderMetrics }),
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
  const { host: _, port: __, drainMillis: ___, insecure: ____, workers: _____, ...appOptions } = options;
  return {
    workerName,
    options: appOptions,
    isLimited: owner.limiter !== null,
    spoolFolder: owner.spoolFolder,
    // Any name will do: each run's folder lies in the same one.
    filesFolder: path.dirname(owner.runs.folderOf('run')),
    logLevel: getLogger().level,
  };
}

/** A port whose connections others answer. */
interface Door {
  /** Gives the port; rejects with Node's error. */
  readonly listen: (place: Place) => Promise<number>;
  /** Says who gets the connections: those that have come, and those to come. */
  readonly open: (give: (socket: Socket) => void) => void;
  /** Takes no more, once those are taken that have come. */
  readonly close: () => Promise<void>;
}

/** Makes a door. Nothing is read from its connections. */
function createDoor(): Door {
  let early: Socket[] = [];
  let give = (socket: Socket): void => {
    early.push(socket);
  };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // A client that goes before anyone has read from it is no fault.
    socket.on('error', () => undefined);
    give(socket);
  });
  return {
    listen: (place) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host: place.host, port: place.port }, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : place.port);
        });
      }),
    open: (giveTo) => {
      give = giveTo;
      const sockets = early;
      early = [];
      sockets.forEach(giveTo);
    },
    close: async () => {
      await acceptWaiting(server);
      server.close();
      for (const socket of early) socket.destroy();
    },
  };
}
