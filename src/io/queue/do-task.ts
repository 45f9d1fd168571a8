import { FairnessToolkitError } from '../../exceptions/index.ts';
import type { OnProgress, ProgressEvent } from '../../internal/progress.ts';
import type { Redis } from '../redis/open-redis.ts';
import {
  type JobTaker,
  logError,
  type QueueJob,
  type SharedNames,
  type TaskMessage,
  type TaskNames,
  taskNames,
} from './bullmq.ts';
import { MAX_ATTEMPTS } from './follow-task.ts';
import { type DataStore, decodeData, encodeData } from './task-data.ts';
import { encodeError, type Quarantined, taskFailed, taskQuarantined } from './task-errors.ts';
import type { TaskData, TaskHandler } from './task-queue.ts';

/** What happened to a task at a worker. */
export interface TaskEvent {
  readonly type:
    | 'started'
    | 'done'
    | 'failed'
    /** It failed with an error that is not one of this package, and is tried again. */
    | 'retried'
    | 'cancelled'
    /** It was given back, because the worker stops. Another worker takes it. */
    | 'returned'
    /** The worker could not confirm in time that it works on the task. Another worker takes it. */
    | 'lost'
    /** It ended too many workers. */
    | 'quarantined';
  readonly kind: string;
  readonly id: string;
  /** The milliseconds since the worker took the task. */
  readonly millis: number;
  readonly error?: unknown;
}

/** The connections and settings that all tasks of a worker share. */
export interface WorkerLink {
  readonly redis: Redis;
  readonly store: DataStore;
  readonly names: SharedNames;
  readonly workerName: string;
  readonly prefix: string;
  readonly keepSeconds: number;
  readonly lockMillis: number;
  readonly handlers: Readonly<Record<string, TaskHandler>>;
  readonly running: Set<RunningTask>;
  /** Creates an error after which BullMQ does not try a job again. */
  readonly createFinalError: (message: string) => Error;
  readonly report: (event: TaskEvent) => void;
}

/** A task that a worker has taken. */
export interface TakenTask {
  readonly kind: string;
  readonly job: QueueJob;
  readonly taker: JobTaker;
  readonly token: string;
}

/** Why a handler is asked to stop. */
type StopReason = 'cancelled' | 'lost' | 'returned';

/** A task at work. */
export interface RunningTask extends TakenTask {
  readonly id: string;
  readonly names: TaskNames;
  readonly stop: AbortController;
  stopReason?: StopReason;
}

/** The minimum time between two messages about the progress of a task. */
const PROGRESS_MILLIS = 200;

/** The time for which the input of a task that is quarantined is kept: 30 days. */
const QUARANTINE_SECONDS = 30 * 86_400;

/** Asks the handler of a task to stop. */
export function askToStop(task: RunningTask, reason: StopReason): void {
  task.stopReason ??= reason;
  task.stop.abort(new DOMException(`The task was ${task.stopReason}.`, 'AbortError'));
}

/** Stops the running tasks that all callers have cancelled. A message is only a hint: the key decides. */
export async function stopCancelled(
  { redis, running }: WorkerLink,
  isMeant: (task: RunningTask) => boolean,
): Promise<void> {
  for (const task of [...running].filter(isMeant)) {
    const isCancelled = await redis.client.call('EXISTS', task.names.cancel).catch(() => 0);
    if (Number(isCancelled) === 1) askToStop(task, 'cancelled');
  }
}

/** Does one task. Never rejects: if Redis fails, the lock of the task expires, and another worker takes it. */
export async function doTask(link: WorkerLink, taken: TakenTask): Promise<void> {
  const { kind, job } = taken;
  const id = job.id.slice('task-'.length);
  const names = taskNames(link.prefix, kind, id);
  const task: RunningTask = { ...taken, id, names, stop: new AbortController() };
  const start = performance.now();
  const report = (type: TaskEvent['type'], error?: unknown): void => {
    link.report({ type, kind, id, millis: performance.now() - start, ...(error === undefined ? {} : { error }) });
  };
  link.running.add(task);
  try {
    const { type, error } = await settle(link, task, () => {
      report('started');
    });
    report(type, error);
  } catch (error) {
    logError(error);
    report('lost', error);
  } finally {
    link.running.delete(task);
    publish(link, names, { type: 'end' });
  }
}

/** How a task ended at this worker. */
interface Ending {
  readonly type: TaskEvent['type'];
  readonly error?: unknown;
}

async function settle(link: WorkerLink, task: RunningTask, onStart: () => void): Promise<Ending> {
  const { job, token, names } = task;
  const { client } = link.redis;
  if (job.deferredFailure !== undefined) return quarantine(link, task);
  if (Number(await client.call('EXISTS', names.cancel)) === 1) return discard(link, task);
  // The task was done before, but its worker was lost before it could say so.
  if (Number(await client.call('EXISTS', names.output)) === 1) {
    await job.moveToCompleted(null, token, false);
    return { type: 'done' };
  }
  await client.call('SET', names.worker, link.workerName, 'EX', link.keepSeconds);
  publish(link, names, { type: 'start', attempt: job.attemptsStarted });
  onStart();
  try {
    await storeOutput(link, task, await handle(link, task));
  } catch (error) {
    return await endFailed(link, task, error);
  }
  // If another worker has taken the task in the meantime, that worker finds the output.
  await job.moveToCompleted(null, token, false).catch(logError);
  return { type: 'done' };
}

async function handle(link: WorkerLink, { kind, job, names, stop }: RunningTask): Promise<TaskData> {
  const progress = throttle((event) => {
    publish(link, names, { type: 'progress', ...event });
  });
  const input = decodeData(await link.store.get(job.data));
  const handler = link.handlers[kind] as TaskHandler;
  try {
    return await handler({ kind, ...input }, { onProgress: progress.report, signal: stop.signal });
  } finally {
    progress.flush();
  }
}

/** Stores the output of a task once. If another worker has stored one, that one is kept. */
async function storeOutput(link: WorkerLink, { names }: RunningTask, output: TaskData): Promise<void> {
  const stored = await link.store.put(encodeData(output));
  await link.redis.client.call('SET', names.output, JSON.stringify(stored), 'EX', link.keepSeconds, 'NX');
}

/** Ends a task whose handler has thrown. */
async function endFailed(link: WorkerLink, task: RunningTask, error: unknown): Promise<Ending> {
  const { kind, id, job, token, stopReason } = task;
  if (stopReason === 'lost') return { type: 'lost' };
  if (stopReason === 'cancelled') return discard(link, task);
  if (stopReason === 'returned') return giveBack(task);
  const attempt = job.attemptsMade + 1;
  // Invalid data stay invalid, however often they are read.
  const isOwn = FairnessToolkitError.isInstance(error);
  const reason = JSON.stringify(encodeError(isOwn ? error : taskFailed({ kind, id }, attempt, error)));
  const isFinal = isOwn || attempt >= MAX_ATTEMPTS;
  await job.moveToFailed(isFinal ? link.createFinalError(reason) : new Error(reason), token, false);
  return { type: isFinal ? 'failed' : 'retried', error };
}

async function giveBack({ job, token }: RunningTask): Promise<Ending> {
  await job.moveToWait(token);
  return { type: 'returned' };
}

/** Removes a cancelled task, unless somebody has asked for it again. */
async function discard({ redis, createFinalError }: WorkerLink, task: RunningTask): Promise<Ending> {
  const { job, token, names } = task;
  if (Number(await redis.client.call('EXISTS', names.cancel)) === 0) return giveBack(task);
  job.opts.removeOnFail = true;
  await job.moveToFailed(createFinalError('cancelled'), token, false);
  await redis.client.call('DEL', names.cancel);
  return { type: 'cancelled' };
}

/** Quarantines a task that has ended too many workers. It is not run again before somebody allows it. */
async function quarantine({ redis, store, names, createFinalError }: WorkerLink, task: RunningTask): Promise<Ending> {
  const { kind, id, job, token } = task;
  const worker = (await redis.client.call('GET', task.names.worker)) as string | null;
  const entry: Quarantined = { times: job.stalledCounter, worker: worker ?? 'unknown' };
  const record = { ...entry, kind, id, at: new Date().toISOString(), input: job.data };
  await redis.client.call('HSET', names.quarantine, task.names.task, JSON.stringify(record));
  await store.keep(job.data, QUARANTINE_SECONDS);
  const error = taskQuarantined({ kind, id }, { ...entry, key: names.quarantine, field: task.names.task });
  await job.moveToFailed(createFinalError(JSON.stringify(encodeError(error))), token, false);
  return { type: 'quarantined', error };
}

/** Sends a message to the callers of a task. */
function publish({ redis }: WorkerLink, { channel }: TaskNames, message: TaskMessage): void {
  redis.client.call('PUBLISH', channel, JSON.stringify(message)).catch(() => undefined);
}

/** Limits the rate of progress. The last event is always sent. */
function throttle(send: OnProgress): { readonly report: OnProgress; readonly flush: () => void } {
  let last: ProgressEvent | undefined;
  let sentAt = -Infinity;
  const flush = (): void => {
    if (last !== undefined) send(last);
    last = undefined;
    sentAt = performance.now();
  };
  return {
    report(event) {
      last = event;
      if (performance.now() - sentAt >= PROGRESS_MILLIS) flush();
    },
    flush,
  };
}
