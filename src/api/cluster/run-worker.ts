import path from 'node:path';

import type { Level } from 'pino';

import { setLogLevel } from '../../internal/logger.ts';
import { createListeningApp, type ListeningApp } from '../serve/listening-app.ts';
import { createChannel, type Channel } from './channel.ts';
import { createDeferred } from '../../internal/deferred.ts';
import type { MessageLine } from './message-line.ts';
import type { PrimaryMethods } from './primary-methods.ts';
import { createRemoteLimiter, createRemoteRuns } from './remote-runs.ts';
import type { WorkerMethods } from './worker-methods.ts';
import type { WorkerSettings } from './worker-settings.ts';

/**
 * A worker: asks the primary for its settings, and answers what comes on its connections until it is told to end.
 * @param exit ends the process
 */
export async function runWorker(line: MessageLine, exit: () => void): Promise<ListeningApp> {
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
