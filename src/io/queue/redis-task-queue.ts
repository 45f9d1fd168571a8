import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { isRedisError, openRedis, redisFailed } from '../redis/open-redis.ts';
import { bullOptions, importBullMq, type JobQueue, logError, sharedNames, warnOfSettings } from './bullmq.ts';
import { openChannels } from './channels.ts';
import { type QueueLink, RUN_OPTION_NAMES, runTask } from './follow-task.ts';
import { assertName, encodeTask, openDataStore } from './task-data.ts';
import { queueClosed } from './task-errors.ts';
import type { QueueCounts, TaskQueue } from './task-queue.ts';

/** Options of {@link createQueue}. */
export interface QueueOptions {
  /** The URL of Redis: `redis://user@host:6379/0`, or `rediss://` for TLS. Do not write passwords into programs. */
  readonly redis: string;
  /**
   * The first part of all names in Redis. Queues and workers with different prefixes do not see each other;
   * `evenhand worker` uses the default.
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
}

const QUEUE_OPTION_NAMES: OptionNames<QueueOptions> = { redis: true, prefix: true, keepSeconds: true, env: true };

/** Options of {@link openTaskQueue}. */
export interface OpenTaskQueueOptions extends QueueOptions {
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

/** One year. */
const MAX_KEEP_SECONDS = 366 * 86_400;

/** One day. */
export const DEFAULT_KEEP_SECONDS = 86_400;

/**
 * Connects to a queue on Redis, whose tasks `evenhand worker` does, on any number of machines. Pass it to `sweepPareto`
 * as the option `queue`, and close it at the end.
 *
 * A task whose worker is lost is taken over by another worker. Its output is stored once, under the hash of the task, so
 * that an equal task is not done again as long as its output is kept. See docs/scaling.md.
 * @throws {ConfigValidationError} if the URL is not valid
 * @throws {DataValidationError} if Redis does not answer, or does not accept the password
 * @throws {DependencyError} if BullMQ or ioredis is not installed (`npm install bullmq@6 ioredis@6`)
 * @example
 * ```text
 * import { createQueue, sampleData, sweepPareto } from 'evenhand';
 *
 * // Needs Redis, and workers: npx evenhand worker --redis redis://queue.example:6379
 * const queue = await createQueue({ redis: 'redis://queue.example:6379' });
 * const points = await sweepPareto(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education'] },
 *   { etas: [0, 0.5, 1, 2, 4, 8, 16, 32, 64], queue },
 * );
 * await queue.close();
 * ```
 */
export async function createQueue(options: QueueOptions): Promise<TaskQueue> {
  assertKnownOptions('createQueue', options, QUEUE_OPTION_NAMES);
  return openTaskQueue(options);
}

/** @throws {ValueError} if a setting is out of range */
export function checkSettings({ prefix = DEFAULT_PREFIX, keepSeconds = DEFAULT_KEEP_SECONDS }: QueueOptions): void {
  assertName('prefix', prefix);
  requireInteger('keepSeconds', keepSeconds, 1, MAX_KEEP_SECONDS);
}

/**
 * Connects to a queue on Redis. {@link startTaskWorker} does its tasks, in any process on any machine.
 * @throws {ConfigValidationError} if the URL is not valid
 * @throws {DataValidationError} if Redis does not answer, or does not accept the password
 * @throws {DependencyError} if BullMQ or ioredis is not installed
 */
export async function openTaskQueue(options: OpenTaskQueueOptions): Promise<TaskQueue> {
  checkSettings(options);
  const { redis: url, prefix = DEFAULT_PREFIX, keepSeconds = DEFAULT_KEEP_SECONDS, env } = options;
  const { pollMillis = 1000, retryMillis = 1000 } = options;
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
    async run(task, runOptions = {}) {
      assertKnownOptions('run', runOptions, RUN_OPTION_NAMES);
      runOptions.signal?.throwIfAborted();
      if (closing.signal.aborted) throw queueClosed(redis.name);
      return runTask(link, encodeTask(task, runOptions.id), runOptions);
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
