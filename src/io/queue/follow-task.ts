import { randomUUID } from 'node:crypto';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { settleWithin, whenAborted } from '../../internal/retry.ts';
import { VERSION } from '../../internal/version.ts';
import { isRedisError, type Redis, redisFailed } from '../redis/open-redis.ts';
import {
  GONE_SECONDS,
  type JobQueue,
  queueName,
  type SharedNames,
  type TaskMessage,
  type TaskNames,
  taskNames,
  workersKey,
} from './bullmq.ts';
import { type Channels, createBell } from './channels.ts';
import { type DataStore, decodeData, type EncodedTask, type StoredData } from './task-data.ts';
import {
  decodeError,
  type EncodedError,
  queueClosed,
  type Quarantined,
  taskLost,
  taskQuarantined,
} from './task-errors.ts';
import type { RunTaskOptions, TaskData } from './task-queue.ts';

/** The names of {@link RunTaskOptions}. */
export const RUN_OPTION_NAMES: OptionNames<RunTaskOptions> = {
  id: true,
  onStart: true,
  onProgress: true,
  signal: true,
};

/** How often a task is tried that fails with an error that is not one of this package. */
export const MAX_ATTEMPTS = 3;

/** How often a task is added again that disappeared from Redis. */
const MAX_ADDITIONS = 5;

/** The number of failed tasks whose errors are kept. */
const MAX_FAILED = 1000;

/** The time after which a warning says that no worker takes a task. */
const NO_WORKER_MILLIS = 10_000;

/** The time that Redis has to record a cancellation, before the caller goes on. */
const CANCEL_MILLIS = 2000;

/** The connections and settings that all runs of a queue share. */
export interface QueueLink {
  readonly redis: Redis;
  readonly channels: Channels;
  readonly store: DataStore;
  readonly names: SharedNames;
  readonly prefix: string;
  readonly keepSeconds: number;
  readonly pollMillis: number;
  readonly retryMillis: number;
  /** Returns the queue of BullMQ with a name. */
  readonly queueOf: (name: string) => JobQueue;
  /** Aborted when the queue is closed. */
  readonly closed: AbortSignal;
}

/** Follows a task until it has an output, its caller gives up, or the queue is closed. */
export async function runTask(link: QueueLink, task: EncodedTask, options: RunTaskOptions): Promise<TaskData> {
  const { redis, closed, prefix } = link;
  const { signal } = options;
  const caller = { id: randomUUID(), names: taskNames(prefix, task.kind, task.id) };
  // One signal for both, because many tasks may share the signal of the caller.
  const either = AbortSignal.any([closed, ...(signal === undefined ? [] : [signal])]);
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
  };
  either.addEventListener('abort', end, { once: true });
  let isCancelled = false;
  try {
    // A command waits while Redis does not answer, but its caller need not.
    return await Promise.race([follow(link, task, caller, options, stop.signal), whenAborted(stop.signal)]);
  } catch (error) {
    if (signal?.aborted === true) {
      isCancelled = true;
      await settleWithin(CANCEL_MILLIS, [cancel(link, task, caller)]);
      throw signal.reason as Error;
    }
    if (closed.aborted) throw queueClosed(redis.name);
    throw isRedisError(error) ? redisFailed(redis.name, error) : error;
  } finally {
    either.removeEventListener('abort', end);
    end();
    if (!isCancelled) redis.client.call('ZREM', caller.names.callers, caller.id).catch(() => undefined);
  }
}

/** One caller of a task. */
interface Caller {
  readonly id: string;
  readonly names: TaskNames;
}

/**
 * Adds the task if it is not there, and waits for its output. A message wakes it up, but it also looks regularly, so that
 * a lost message delays it only.
 */
async function follow(
  link: QueueLink,
  task: EncodedTask,
  { id, names }: Caller,
  options: RunTaskOptions,
  stop: AbortSignal,
): Promise<TaskData> {
  const { pollMillis, keepSeconds, store } = link;
  const queue = link.queueOf(queueName(task.kind));
  const bell = createBell();
  const start = watchStart(link, task.kind, options.onStart);
  const ignore = await link.channels.listen(names.channel, (text) => {
    const message = JSON.parse(text) as TaskMessage;
    if (message.type === 'progress') {
      const { stage, done, total } = message;
      if (!stop.aborted) options.onProgress?.({ stage, done, total });
      return;
    }
    if (message.type === 'start' && !stop.aborted) start.note(message.attempt);
    bell.ring();
  });
  try {
    let additions = 0;
    let isJoined = false;
    let keptAt = performance.now();
    for (;;) {
      stop.throwIfAborted();
      await register(link, names, id);
      // In this order: a worker first stores the output, and then removes the job.
      const job = await queue.getJob(names.jobId);
      const output = await readOutput(link, names);
      stop.throwIfAborted();
      if (output !== undefined) {
        if (isJoined) start.note(1);
        return output;
      }
      const isFailed = job?.finishedOn !== undefined && job.failedReason !== undefined;
      if (isFailed && isJoined) throw decodeError(JSON.parse(job.failedReason) as EncodedError);
      if (job === undefined || isFailed) {
        if (additions++ > MAX_ADDITIONS) throw taskLost(task, link.redis.name);
        await assertNotQuarantined(link, task, names);
        if (isFailed) await queue.remove(names.jobId);
        await add(link, task, names);
        keptAt = performance.now();
      } else {
        start.note(job.attemptsStarted);
        if (performance.now() - keptAt > 250 * keepSeconds) {
          await store.keep(job.data, keepSeconds);
          keptAt = performance.now();
        }
      }
      isJoined = true;
      await start.warnIfIdle();
      await bell.wait(pollMillis, stop);
    }
  } finally {
    ignore();
  }
}

/** Adds a task to the queue, unless it is there. */
async function add(link: QueueLink, task: EncodedTask, { jobId }: TaskNames): Promise<void> {
  const { redis, names, keepSeconds, retryMillis } = link;
  const queue = queueName(task.kind);
  const stored = await link.store.put(task, task.digests);
  await redis.client.call('SADD', names.queues, queue);
  await link.queueOf(queue).add(task.kind, stored, {
    jobId,
    attempts: MAX_ATTEMPTS,
    backoff: { type: 'exponential', delay: retryMillis },
    removeOnComplete: true,
    removeOnFail: { age: keepSeconds, count: MAX_FAILED },
  });
  await redis.client.call('PUBLISH', names.added, queue);
}

/** Records that a caller waits for a task, so that the task is not cancelled. */
const REGISTER = `
redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])`;

async function register({ redis }: QueueLink, { callers, cancel }: TaskNames, id: string): Promise<void> {
  await redis.client.call('EVAL', REGISTER, 2, callers, cancel, id, 10 * GONE_SECONDS);
}

/** Removes a caller. If no other one waits, marks the task as cancelled, and announces it. */
const CANCEL = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1] - ARGV[2])
if redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
redis.call('SET', KEYS[2], 1, 'EX', ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1`;

async function cancel(link: QueueLink, { kind }: EncodedTask, { id, names }: Caller): Promise<void> {
  const args = [id, GONE_SECONDS, link.keepSeconds, link.names.cancelled, names.task];
  const isLast = await link.redis.client.call('EVAL', CANCEL, 2, names.callers, names.cancel, ...args);
  // Removes a job that waits. A job that runs is locked; its worker stops it.
  if (Number(isLast) === 1) await link.queueOf(queueName(kind)).remove(names.jobId);
}

/** Returns the stored output of a task; undefined if there is none. */
async function readOutput({ redis, store }: QueueLink, { output }: TaskNames): Promise<TaskData | undefined> {
  const text = (await redis.client.call('GET', output)) as string | null;
  if (text === null) return undefined;
  try {
    return decodeData(await store.get(JSON.parse(text) as StoredData));
  } catch (error) {
    if (!FairnessToolkitError.isInstance(error)) throw error;
    // Redis has evicted a part of the output. The task is done again.
    await redis.client.call('DEL', output);
    return undefined;
  }
}

async function assertNotQuarantined(link: QueueLink, task: EncodedTask, names: TaskNames): Promise<void> {
  const { quarantine } = link.names;
  const text = (await link.redis.client.call('HGET', quarantine, names.task)) as string | null;
  if (text === null) return;
  throw taskQuarantined(task, { ...(JSON.parse(text) as Quarantined), key: quarantine, field: names.task });
}

/** Reports each start of a task once, and warns if there is no worker to start it. */
function watchStart(
  { redis, prefix }: QueueLink,
  kind: string,
  onStart: RunTaskOptions['onStart'],
): { note(attempt: number): void; warnIfIdle(): Promise<void> } {
  let started = 0;
  let isChecked = false;
  const since = performance.now();
  return {
    note(attempt) {
      if (attempt <= started) return;
      started = attempt;
      onStart?.();
    },
    async warnIfIdle() {
      if (isChecked || started > 0 || performance.now() - since < NO_WORKER_MILLIS) return;
      isChecked = true;
      const [seconds] = (await redis.client.call('TIME')) as string[];
      const seenFrom = Number(seconds) - GONE_SECONDS;
      if (Number(await redis.client.call('ZCOUNT', workersKey(prefix, kind), seenFrom, '+inf')) > 0) return;
      getLogger().warn(
        `No worker takes '${kind}' tasks from ${redis.name}, so they wait. Start a worker of the same version (${VERSION}): evenhand worker --redis URL`,
      );
    },
  };
}
