import type { Socket } from 'node:net';

import type { Level } from 'pino';

import { createDeferred } from '../../internal/deferred.ts';
import { setLogLevel } from '../../internal/logger.ts';
import { type Channel, createChannel } from '../cluster/channel.ts';
import {
  isConnectionMessage,
  lineOf,
  type MessageLine,
  type PrimaryMethods,
  type WorkerMethods,
  type WorkerSettings,
} from '../cluster/protocol.ts';
import {
  createRemoteLimiter,
  createRemoteRuns,
  createRemoteStreams,
  createRemoteWebhooks,
} from '../cluster/remote-runs.ts';
import { createListeningApp, type ListeningApp } from './listening-app.ts';

// A terminal sends the signal of Ctrl-C to every process of its group, and some supervisors send SIGTERM to every
// process. The primary decides when a worker ends. Without a primary, the worker ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));

const app = await runWorker(lineOf(process), () => process.exit(0));

process.on('message', (message, socket: Socket | undefined) => {
  if (!isConnectionMessage(message)) return;
  // The connection is confirmed before anything is read. From now on, it belongs to this process.
  process.send?.(message);
  // If the client has disconnected in the meantime, there is no socket.
  if (socket !== undefined) app.server.take(socket);
});

/**
 * Runs a worker: gets its settings from the primary, and answers requests on its connections until it is asked to end.
 * @param exit ends the process
 */
async function runWorker(line: MessageLine, exit: () => void): Promise<ListeningApp> {
  const ready = createDeferred<ListeningApp>();
  const channel = createChannel<PrimaryMethods, WorkerMethods>(line, {
    metrics: async () => (await ready.promise).metrics.toJson(),
    refuseWork: async () => {
      (await ready.promise).refuseWork();
      return undefined;
    },
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
  // The primary answers in a later turn, so the caller has the app before the first connection arrives.
  void channel.call('ready', undefined);
  return app;
}

function createRemoteApp(channel: Channel<PrimaryMethods>, settings: WorkerSettings): ListeningApp {
  const { options, workerName, spoolFolder, isLimited } = settings;
  return createListeningApp(options, {
    runs: createRemoteRuns(channel),
    streams: createRemoteStreams(channel),
    webhookSender: createRemoteWebhooks(channel),
    limiter: isLimited ? createRemoteLimiter(channel) : null,
    spoolFolder,
    workerName,
    renderMetrics: () => channel.call('renderMetrics', undefined),
  });
}
