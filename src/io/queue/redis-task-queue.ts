import { assertKnownOptions } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { isRedisError, openRedis, redisFailed } from '../redis/open-redis.ts';
import { bullOptions, importBullMq, type JobQueue, logError, sharedNames, warnOfSettings } from './bullmq.ts';
import { openChannels } from './channels.ts';
import { type QueueLink, RUN_OPTION_NAMES, runTask } from './follow-task.ts';
import { encodeTask, openDataStore } from './task-data.ts';
import { queueClosed } from './task-errors.ts';
import type { QueueCounts, TaskQueue } from './task-queue.ts';

/** Options of {@link openTaskQueue}. */
export interface OpenTaskQueueOptions {
  /** The URL of Redis: `redis://user@host:6379/0`, or `rediss://` for TLS. */
  readonly redis: string;
  /**
   * The first part of all names in Redis. Queues and workers with different prefixes do not see each other.
   * @defaultValue 'evenhand'
   */
  readonly prefix?: string | undefined;
  /**
   * The time for which inputs and outputs are kept in Redis, in seconds.
   * @defaultValue 86400, one day
   */
  readonly keepSeconds?: number | undefined;
  /**
   * The environment variables. EVENHAND_REDIS_PASSWORD holds the password, or EVENHAND_REDIS_PASSWORD_FILE the path of
   * a file that holds it.
   * @defaultValue process.env
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The time between two looks at a task, in milliseconds. Usually, a message arrives earlier.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
  /**
   * The time before a task is tried again after an error that is not one of this package, in milliseconds. It doubles
   * with every attempt.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
}

/** The default prefix of all names in Redis. */
export const DEFAULT_PREFIX = 'evenhand';

/** One day. */
export const DEFAULT_KEEP_SECONDS = 86_400;

/**
 * Connects to a queue on Redis. {@link startTaskWorker} does its tasks, in any process on any machine.
 * @throws {ConfigValidationError} if the URL is not valid
 * @throws {DataValidationError} if Redis does not answer, or does not accept the password
 * @throws {DependencyError} if BullMQ or ioredis is not installed
 */
export async function openTaskQueue({
  redis: url,
  prefix = DEFAULT_PREFIX,
  keepSeconds = DEFAULT_KEEP_SECONDS,
  env,
  pollMillis = 1000,
  retryMillis = 1000,
}: OpenTaskQueueOptions): Promise<TaskQueue> {
  const { Queue } = await importBullMq();
  const redis = await openRedis(url, { env });
  const channels = await openChannels(redis).catch(async (error: unknown) => {
    await redis.close();
    throw error;
  });
  await warnOfSettings(redis);
  const closing = new AbortController();
  const queues = new Map<string, JobQueue>();
  const queueOf = (name: string): JobQueue => {
    const queue = queues.get(name) ?? new Queue(name, bullOptions(redis, prefix));
    if (!queues.has(name)) queue.on('error', logError);
    queues.set(name, queue);
    return queue;
  };
  const link: QueueLink = {
    redis,
    channels,
    store: openDataStore(redis, { prefix, keepSeconds, cacheBytes: 0 }),
    names: sharedNames(prefix),
    prefix,
    keepSeconds,
    pollMillis,
    retryMillis,
    queueOf,
    closed: closing.signal,
  };
  return {
    name: redis.name,
    async run(task, options = {}) {
      assertKnownOptions('run', options, RUN_OPTION_NAMES);
      options.signal?.throwIfAborted();
      if (closing.signal.aborted) throw queueClosed(redis.name);
      return runTask(link, encodeTask(task, options.id), options);
    },
    async counts() {
      if (closing.signal.aborted) throw queueClosed(redis.name);
      return countTasks(link).catch((error: unknown) => {
        throw isRedisError(error) ? redisFailed(redis.name, error) : error;
      });
    },
    async close() {
      closing.abort();
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await redis.close();
    },
  };
}

async function countTasks({ redis, names, queueOf }: QueueLink): Promise<QueueCounts> {
  const known = (await redis.client.call('SMEMBERS', names.queues)) as string[];
  const own = known.filter((name) => name.endsWith(`@${VERSION}`));
  const counts = await Promise.all(own.map((name) => queueOf(name).getJobCounts('wait', 'delayed', 'active')));
  const total = (state: string): number => counts.reduce((sum, each) => sum + (each[state] ?? 0), 0);
  return { queued: total('wait') + total('delayed'), running: total('active') };
}
