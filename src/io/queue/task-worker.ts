import { randomBytes } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';

import { createDeferred } from '../../internal/deferred.ts';
import { getLogger } from '../../internal/logger.ts';
import { settleWithin, sleep } from '../../internal/retry.ts';
import { Slots } from '../../internal/slots.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { openRedis } from '../redis/open-redis.ts';
import {
  bullOptions,
  GONE_SECONDS,
  importBullMq,
  type JobTaker,
  logError,
  queueName,
  sharedNames,
  warnOfSettings,
  workersKey,
} from './bullmq.ts';
import { type Bell, createBell, openChannels } from './channels.ts';
import { askToStop, doTask, stopCancelled, type TakenTask, type TaskEvent, type WorkerLink } from './do-task.ts';
import { checkSettings, DEFAULT_KEEP_SECONDS, DEFAULT_PREFIX, type OpenTaskQueueOptions } from './redis-task-queue.ts';
import { assertName, openDataStore } from './task-data.ts';
import type { TaskHandler } from './task-queue.ts';

/** Options of {@link startTaskWorker}. */
export interface StartTaskWorkerOptions extends Omit<OpenTaskQueueOptions, 'retryMillis'> {
  /** The handlers by the kind of task. The worker takes only tasks of these kinds. */
  readonly handlers: Readonly<Record<string, TaskHandler>>;
  /**
   * The number of tasks that the worker does at the same time.
   * @defaultValue the number of the machine's cores
   */
  readonly concurrency?: number | undefined;
  /**
   * The time after which a task is taken from a worker that does not answer, in milliseconds. It takes up to twice this
   * time until another worker takes the task.
   * @defaultValue 30000
   */
  readonly lockMillis?: number | undefined;
  /**
   * How often a task may end its worker. A task that ends one more is quarantined.
   * @defaultValue 3
   */
  readonly maxLost?: number | undefined;
  /**
   * The bytes of inputs that are kept in memory, because tasks often share their largest inputs.
   * @defaultValue 268435456, 256 MiB
   */
  readonly cacheBytes?: number | undefined;
  readonly onEvent?: ((event: TaskEvent) => void) | undefined;
}

/** A running worker. */
export interface TaskWorker {
  /** The name of the worker in Redis. */
  readonly name: string;
  /** The server, without the password. */
  readonly redis: string;
  /** Resolves when the worker has stopped. */
  readonly done: Promise<void>;
  /**
   * Stops the worker: it takes no further tasks, and gives back those that have not ended in time.
   * @param drainMillis the time that tasks have to end (30 seconds if omitted)
   */
  close(options?: { readonly drainMillis?: number | undefined }): Promise<void>;
}

/** How often a task is checked and its lock renewed, at the least. */
const MAX_TICK_MILLIS = 5000;

/** The time that handlers have to stop when they are asked to. */
const STOP_MILLIS = 2000;

/**
 * Starts to do the tasks of a queue on Redis in this process. A handler must leave the event loop free, because the
 * worker confirms through it that it still works: long computations belong in threads.
 * @throws {ConfigValidationError} if the URL is not valid
 * @throws {DataValidationError} if Redis does not answer, or does not accept the password
 * @throws {DependencyError} if BullMQ or ioredis is not installed
 */
export async function startTaskWorker(options: StartTaskWorkerOptions): Promise<TaskWorker> {
  checkSettings(options);
  const { redis: url, handlers, prefix = DEFAULT_PREFIX, keepSeconds = DEFAULT_KEEP_SECONDS, env, onEvent } = options;
  const { concurrency = availableParallelism(), pollMillis = 1000, lockMillis = 30_000 } = options;
  const { maxLost = 3, cacheBytes = 2 ** 28 } = options;
  requireInteger('concurrency', concurrency, 1);
  requireInteger('lockMillis', lockMillis, 100);
  requireInteger('maxLost', maxLost, 0);
  for (const kind of Object.keys(handlers)) assertName('kind', kind);
  const { Worker, UnrecoverableError } = await importBullMq();
  const redis = await openRedis(url, { env });
  const name = `${hostname()}-${String(process.pid)}-${randomBytes(3).toString('hex')}`;
  const link: WorkerLink = {
    redis,
    store: openDataStore(redis, { prefix, keepSeconds, cacheBytes }),
    names: sharedNames(prefix),
    prefix,
    keepSeconds,
    lockMillis,
    handlers,
    workerName: name,
    running: new Set(),
    createFinalError: (message) => new UnrecoverableError(message),
    report(event) {
      try {
        onEvent?.(event);
      } catch (error) {
        logError(error);
      }
    },
  };
  const bell = createBell();
  const takers = new Map<string, JobTaker>();
  try {
    const channels = await openChannels(redis);
    await channels.listen(link.names.added, () => {
      bell.ring();
    });
    await channels.listen(link.names.cancelled, (task) => {
      void stopCancelled(link, (one) => one.names.task === task);
    });
    await warnOfSettings(redis);
    for (const kind of Object.keys(handlers)) {
      const taker = new Worker(queueName(kind), null, {
        ...bullOptions(redis, prefix),
        name,
        lockDuration: lockMillis,
        stalledInterval: Math.ceil(lockMillis / 2),
        maxStalledCount: maxLost,
      });
      taker.on('error', logError);
      taker.on('stalled', (id) => {
        getLogger().warn(`The worker of the task ${id} (${kind}) was lost. Another worker takes the task.`);
        bell.ring();
      });
      takers.set(kind, taker);
      await taker.startStalledCheckTimer();
    }
  } catch (error) {
    await Promise.all([...takers.values()].map((taker) => taker.close(true)));
    await redis.close();
    throw error;
  }
  return runWorker(link, { name, takers, bell, concurrency, pollMillis });
}

/** The parts of a worker that take tasks. */
interface WorkerParts {
  readonly name: string;
  readonly takers: ReadonlyMap<string, JobTaker>;
  readonly bell: Bell;
  readonly concurrency: number;
  readonly pollMillis: number;
}

function runWorker(link: WorkerLink, parts: WorkerParts): TaskWorker {
  const { redis, running } = link;
  const stopping = new AbortController();
  const closed = new AbortController();
  const done = createDeferred<undefined>();
  const working = new Set<Promise<void>>();
  const taking = takeTasks(link, parts, working, stopping.signal);
  void confirmWork(link, parts, closed.signal);
  let closing: Promise<void> | undefined;
  const close = async (drainMillis: number): Promise<void> => {
    stopping.abort();
    // While Redis is away, a command does not end.
    await settleWithin(STOP_MILLIS, [taking]);
    await settleWithin(drainMillis, working);
    for (const task of running) askToStop(task, 'returned');
    await settleWithin(STOP_MILLIS, working);
    // Handlers that do not stop lose their tasks, too.
    await settleWithin(
      STOP_MILLIS,
      [...running].map(({ job, token }) => job.moveToWait(token)),
    );
    closed.abort();
    const key = (kind: string): string => workersKey(link.prefix, kind);
    const leaving = [...parts.takers.keys()].map((kind) => redis.client.call('ZREM', key(kind), parts.name));
    await settleWithin(STOP_MILLIS, leaving);
    await Promise.all([...parts.takers.values()].map((taker) => taker.close(true)));
    await redis.close();
    done.resolve(undefined);
  };
  return {
    name: parts.name,
    redis: redis.name,
    done: done.promise,
    close: ({ drainMillis = 30_000 } = {}) => (closing ??= close(drainMillis)),
  };
}

/** Takes tasks while there is a free slot. */
async function takeTasks(
  link: WorkerLink,
  { name, takers, bell, concurrency, pollMillis }: WorkerParts,
  working: Set<Promise<void>>,
  stopping: AbortSignal,
): Promise<void> {
  const slots = new Slots(concurrency);
  const kinds = [...takers];
  const isStopping = (): boolean => stopping.aborted;
  let tokens = 0;
  while (!isStopping()) {
    await slots.take(stopping).catch(() => undefined);
    if (isStopping()) return;
    const taken = await takeNext(kinds, `${name}:${String(tokens++)}`).catch(logError);
    if (taken === undefined) {
      slots.release();
      await bell.wait(pollMillis, stopping);
      continue;
    }
    if (isStopping()) {
      await taken.job.moveToWait(taken.token).catch(() => undefined);
      return;
    }
    const work = doTask(link, taken).finally(() => {
      working.delete(work);
      slots.release();
    });
    working.add(work);
  }
}

/** Takes one task. The kinds take turns. */
async function takeNext(kinds: [string, JobTaker][], token: string): Promise<TakenTask | undefined> {
  for (let turn = 0; turn < kinds.length; turn++) {
    const next = kinds.shift() as [string, JobTaker];
    kinds.push(next);
    const [kind, taker] = next;
    const job = await taker.getNextJob(token, { block: false });
    if (job !== undefined) return { kind, job, taker, token };
  }
  return undefined;
}

/** Confirms regularly that this worker works on its tasks, and notices those that it has lost or that are cancelled. */
async function confirmWork(link: WorkerLink, { name, takers }: WorkerParts, closed: AbortSignal): Promise<void> {
  const { redis, running, lockMillis, prefix } = link;
  const tick = Math.min(MAX_TICK_MILLIS, Math.ceil(lockMillis / 4));
  const isClosed = (): boolean => closed.aborted;
  while (!isClosed()) {
    try {
      const [seconds = ''] = (await redis.client.call('TIME')) as string[];
      for (const [kind, taker] of takers) {
        const key = workersKey(prefix, kind);
        await redis.client.call('ZADD', key, seconds, name);
        await redis.client.call('ZREMRANGEBYSCORE', key, '-inf', Number(seconds) - GONE_SECONDS);
        const own = [...running].filter((one) => one.taker === taker);
        const tokens = own.map(({ token }) => token);
        const ids = own.map(({ job }) => job.id);
        const lost = new Set(ids.length === 0 ? [] : await taker.extendJobLocks(ids, tokens, lockMillis));
        // A task that ended in the meantime has no lock either.
        for (const task of own) if (lost.has(task.job.id) && running.has(task)) askToStop(task, 'lost');
      }
      await stopCancelled(link, () => true);
    } catch (error) {
      if (!isClosed()) logError(error);
    }
    await sleep(tick, closed).catch(() => undefined);
  }
}
