import type { Socket } from 'node:net';
import path from 'node:path';

import type { Level } from 'pino';

import { createDeferred } from '../../internal/deferred.ts';
import { setLogLevel } from '../../internal/logger.ts';
import { type Channel, createChannel } from '../cluster/channel.ts';
import {
  isConnectionMessage,
  lineOf,
  type MessageLine,
  type PrimaryMethods,
  type RunMethods,
  type WorkerMethods,
  type WorkerSettings,
} from '../cluster/protocol.ts';
import type { RateLimiter } from '../context/service-context.ts';
import type { RunEvent } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { createListeningApp, type ListeningApp } from './listening-app.ts';

// A terminal sends Ctrl-C to every process of its group, and some supervisors do so with SIGTERM. The primary decides when
// a worker ends; without a primary it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));

const app = await runWorker(lineOf(process), () => process.exit(0));

process.on('message', (message, socket: Socket | undefined) => {
  if (!isConnectionMessage(message)) return;
  // At once, before anything of it is read: from now on the connection lives and dies with this process.
  process.send?.(message);
  // A client that went meanwhile leaves no socket.
  if (socket !== undefined) app.server.take(socket);
});

/**
 * A worker: asks the primary for its settings, and answers what comes on its connections until it is told to end.
 * @param exit ends the process
 */
async function runWorker(line: MessageLine, exit: () => void): Promise<ListeningApp> {
  const ready = createDeferred<ListeningApp>();
  const channel = createChannel<PrimaryMethods, WorkerMethods>(line, {
    metrics: async () => (await ready.promise).metrics.toJson(),
    drain: async () => {
      await (await ready.promise).drain();
      return undefined;
    },
    end: async () => {
      (await ready.promise).server.end();
      exit();
      return undefined;
    },
  });
  const settings = await channel.call('settings', undefined);
  setLogLevel(settings.logLevel as Level);
  const app = createRemoteApp(channel, settings);
  ready.resolve(app);
  // Answered in a later turn, so that who is given the app can take connections before the first comes.
  void channel.call('ready', undefined);
  return app;
}

function createRemoteApp(channel: Channel<PrimaryMethods>, settings: WorkerSettings): ListeningApp {
  const { options, workerName, spoolFolder, filesFolder, isLimited } = settings;
  return createListeningApp(options, {
    runs: createRemoteRuns(channel, (runId) => path.join(filesFolder, runId)),
    limiter: isLimited ? createRemoteLimiter(channel) : null,
    spoolFolder,
    workerName,
    renderMetrics: () => channel.call('renderMetrics', undefined),
  });
}

/**
 * The runs of another process.
 * @param folderOf the folder of a run's files, which both processes see
 */
export function createRemoteRuns(channel: Channel<RunMethods>, folderOf: (runId: string) => string): Runs {
  return Object.freeze({
    keep: async (run) => {
      await channel.call('keep', run);
    },
    submit: (request) => channel.call('submit', request),
    wait: (runId, signal) => channel.call('wait', runId, signal),
    get: (runId) => channel.call('get', runId),
    list: () => channel.call('list', undefined),
    remove: (runId) => channel.call('remove', runId),
    follow: async (runId, after, onEvent) => {
      const { answer, end } = await channel.subscribe('follow', { runId, after }, (event: RunEvent) => {
        onEvent(event);
      });
      if (answer) return end;
      end();
      return undefined;
    },
    work: (job) => channel.call('work', job),
    counts: () => channel.call('counts', undefined),
    folderOf,
  } satisfies Runs);
}

/** The rate limiter of another process, so that there is one for all. */
export function createRemoteLimiter(channel: Channel<RunMethods>): RateLimiter {
  return Object.freeze({ take: (client: string) => channel.call('take', client) });
}
