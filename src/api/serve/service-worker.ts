import { getLogger } from '../../internal/logger.ts';
import { DEFAULT_PREFIX } from '../../io/queue/redis-task-queue.ts';
import type { TaskHandler } from '../../io/queue/task-queue.ts';
import { openRedis } from '../../io/redis/open-redis.ts';
import { checkFolders } from '../app/create-owner.ts';
import { DEFAULT_LEDGER_LIMITS, RunLedger } from '../fleet/run-ledger.ts';
import { createServiceJobHandler } from '../fleet/service-job.ts';
import { createSpoolRoot } from '../intake/spool-folder.ts';
import { createJobRunner } from '../jobs/create-job-runner.ts';

/** Options of {@link openServiceWorker}. */
export interface ServiceWorkerOptions {
  readonly redis: string;
  readonly redisPrefix: string | undefined;
  readonly threads: number;
  readonly llmFolder: string | undefined;
}

/** The part of a worker that executes the runs of services. */
export interface ServiceWorker {
  readonly handler: TaskHandler;
  /** Releases threads, files and connections. Call this method when no task is at work. */
  readonly close: () => Promise<void>;
}

/** @throws {DataValidationError} if the folder for the files of language models does not exist */
export function checkLlmFolder(llmFolder: string): void {
  checkFolders({ llmFolder }, getLogger());
}

/** Opens what `evenhand worker` needs to execute the runs of the services with the same Redis and prefix. */
export async function openServiceWorker(options: ServiceWorkerOptions): Promise<ServiceWorker> {
  const { redis: url, redisPrefix: prefix = DEFAULT_PREFIX, threads, llmFolder = null } = options;
  const logger = getLogger();
  const spool = await createSpoolRoot();
  try {
    const redis = await openRedis(url);
    const ledger = new RunLedger(redis.client, prefix, { ...DEFAULT_LEDGER_LIMITS, maxQueued: 0 });
    // The worker limits the number of its tasks.
    const runner = createJobRunner({ threads, llmThreads: threads, queue: threads, logger });
    return {
      handler: createServiceJobHandler({ redis, ledger, runner, folder: spool.path, llmFolder, logger }),
      close: async () => {
        await runner.close();
        await redis.close();
        await spool.remove();
      },
    };
  } catch (error) {
    await spool.remove();
    throw error;
  }
}
