import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { machineClock } from '../../internal/machine-clock.ts';
import { DEFAULT_PREFIX, openTaskQueue } from '../../io/queue/redis-task-queue.ts';
import { startTaskWorker, type TaskWorker } from '../../io/queue/task-worker.ts';
import { openRedis } from '../../io/redis/open-redis.ts';
import { DEFAULT_LIMITS, type Owner } from '../context/service-context.ts';
import { createSpoolRoot, removeUploadsOf } from '../intake/spool-folder.ts';
import { createJobRunner, LLM_THREADS } from '../jobs/create-job-runner.ts';
import { openPromptClient } from '../fleet/prompt-client.ts';
import { RedisRuns } from '../fleet/redis-runs.ts';
import { DEFAULT_LEDGER_LIMITS, RunLedger } from '../fleet/run-ledger.ts';
import { createServiceJobHandler } from '../fleet/service-job.ts';
import { SERVICE_JOB, SERVICE_LLM_JOB } from '../fleet/service-task.ts';
import { RedisStreams } from '../fleet/redis-streams.ts';
import { createSharedRateLimiter } from '../fleet/shared-rate-limiter.ts';
import { RedisWebhookStore } from '../fleet/redis-webhook-store.ts';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.ts';
import type { WebhookSettings } from '../webhooks/webhooks.ts';
import type { AppOptions } from './app-options.ts';

/** The parts of {@link AppOptions} that the owner needs, with defaults filled in. */
export interface SharedOwnerOptions extends Pick<
  AppOptions,
  'redisPrefix' | 'work' | 'rateLimit' | 'llmFolder' | 'limits' | 'clock' | 'createId'
> {
  readonly redis: string;
  readonly threads: number;
  readonly queue: number;
  readonly webhooks: WebhookSettings;
  readonly basePath: string;
}

/** The number of jobs that may wait in a process. The queue in Redis is limited instead. */
const UNLIMITED = 2 ** 31;

/**
 * Connects to Redis, and creates the parts of a host that shares its runs with other hosts.
 * @throws {DataValidationError} if Redis does not answer
 * @throws {ConfigValidationError} if the URL of Redis is not valid
 * @throws {DependencyError} if the packages for Redis are not installed
 */
export async function createSharedOwner(options: SharedOwnerOptions, logger: Logger): Promise<Owner> {
  const { redis: url, redisPrefix: prefix = DEFAULT_PREFIX, work = true, rateLimit, threads, llmFolder } = options;
  const { clock = machineClock, createId = randomUUID } = options;
  /** Releases what was opened, the last one first. */
  const releases: (() => Promise<void> | void)[] = [];
  const release = async (): Promise<void> => {
    for (const one of releases.splice(0).reverse()) await one();
  };
  try {
    const spool = await createSpoolRoot();
    releases.push(() => spool.remove());
    const redis = await openRedis(url);
    releases.push(() => redis.close());
    const prompt = await openPromptClient(redis, logger);
    releases.push(() => {
      prompt.close();
    });
    const queue = await openTaskQueue({ redis: url, prefix });
    releases.push(() => queue.close());
    const runner = createJobRunner({ threads, queue: UNLIMITED, logger });
    releases.push(() => runner.close());
    const limits = { ...DEFAULT_LEDGER_LIMITS, maxQueued: Math.max(1, options.queue) };
    const shared = { redis, prefix, limits, logger };
    const runs = new RedisRuns({
      ...shared,
      prompt,
      subscriber: await redis.open(),
      queue,
      runner,
      filesFolder: path.join(spool.path, 'files'),
      clock,
      createId,
    });
    const workFolder = path.join(spool.path, 'work');
    await mkdir(workFolder);
    const ledger = new RunLedger(redis.client, prefix, limits);
    const job = createServiceJobHandler({
      ...shared,
      ledger,
      runner,
      folder: workFolder,
      llmFolder: llmFolder ?? null,
    });
    const workers: TaskWorker[] = [];
    releases.push(async () => {
      await Promise.all(workers.map((worker) => worker.close({ drainMillis: 0 })));
    });
    if (work) {
      const common = { redis: url, prefix };
      workers.push(
        await startTaskWorker({ ...common, handlers: { [SERVICE_JOB]: job }, concurrency: threads }),
        await startTaskWorker({ ...common, handlers: { [SERVICE_LLM_JOB]: job }, concurrency: LLM_THREADS }),
      );
    }
    const maxStreams = options.limits?.streams ?? DEFAULT_LIMITS.streams;
    const streams = new RedisStreams({ prompt, prefix, maxStreams, clock, createId, logger });
    releases.push(() => streams.close());
    const { leaseMillis, keepSeconds } = limits;
    const webhookSender = new WebhookDeliveries({
      ...options.webhooks,
      runs,
      store: new RedisWebhookStore({ client: prompt, prefix, leaseMillis, keepSeconds, logger }),
      basePath: options.basePath,
      clock,
      logger,
    });
    releases.push(() => webhookSender.close());
    await runs.start();
    releases.push(() => runs.close());
    await webhookSender.start();
    return {
      runs,
      streams,
      webhookSender,
      limiter: rateLimit === undefined ? null : createSharedRateLimiter(rateLimit, prompt, prefix),
      spoolFolder: spool.path,
      removeUploadsOf: (pid) => removeUploadsOf(spool.path, pid, { isInUse: (folder) => runs.hasInput(folder) }),
      // Other hosts answer for the results of this one.
      isBusy: () => false,
      close: async (drainMillis) => {
        runs.startEnding();
        await Promise.all(workers.map((worker) => worker.close({ drainMillis })));
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
