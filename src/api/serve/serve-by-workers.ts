import path from 'node:path';

import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { createOwner, type Owner } from '../app/create-owner.ts';
import { forkWorker } from '../cluster/forked-worker.ts';
import { createMergedMetrics } from '../cluster/merged-metrics.ts';
import { serveRuns } from '../cluster/serve-runs.ts';
import { createWorkerGroup, type WorkerGroup } from '../cluster/worker-group.ts';
import type { WorkerSettings } from '../cluster/worker-settings.ts';
import { createServiceMetrics, type RenderedMetrics } from '../middleware/metrics.ts';
import { cannotListen } from './address.ts';
import { createDoor } from './door.ts';
import { createRunningService } from './running-service.ts';
import type { FilledServeOptions, RunningService } from './serve-options.ts';
import { stopInOrder } from './stop-in-order.ts';

/**
 * The service in several processes: this one owns the runs and the port, and hands each connection to a worker, which
 * answers its requests.
 */
export async function serveByWorkers(options: FilledServeOptions, workers: number): Promise<RunningService> {
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
