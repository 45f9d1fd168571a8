import { getLogger } from '../../internal/logger.ts';
import { importOptional } from '../../internal/packages.ts';
import { VERSION } from '../../internal/version.ts';
import type { Redis } from '../redis/open-redis.ts';
import type { StoredData } from './task-data.ts';

/** The part of a job of BullMQ that is used. */
export interface QueueJob {
  readonly id: string;
  readonly data: StoredData;
  readonly opts: { removeOnFail?: boolean | object };
  /** The number of attempts that failed with an error. */
  readonly attemptsMade: number;
  /** How often a worker has taken the job. */
  readonly attemptsStarted: number;
  /** How often its lock expired, because its worker was lost. */
  readonly stalledCounter: number;
  /** The reason why the next worker fails the job instead of running it. */
  readonly deferredFailure?: string;
  readonly failedReason?: string;
  readonly finishedOn?: number;
  /** The name of the last worker. */
  readonly processedBy?: string;
  moveToCompleted(value: null, token: string, fetchNext: false): Promise<unknown>;
  moveToFailed(error: Error, token: string, fetchNext: false): Promise<unknown>;
  moveToWait(token: string): Promise<unknown>;
}

/** The part of a queue of BullMQ that is used. */
export interface JobQueue {
  add(name: string, data: StoredData, options: object): Promise<unknown>;
  getJob(id: string): Promise<QueueJob | undefined>;
  getJobCounts(...states: readonly string[]): Promise<Readonly<Record<string, number>>>;
  remove(id: string): Promise<number>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

/** The part of a worker of BullMQ that is used: it takes jobs, and finds those whose worker was lost. */
export interface JobTaker {
  getNextJob(token: string, options: { readonly block: false }): Promise<QueueJob | undefined>;
  /** Returns the jobs whose lock has been lost. */
  extendJobLocks(ids: readonly string[], tokens: readonly string[], millis: number): Promise<string[]>;
  startStalledCheckTimer(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'stalled', listener: (id: string) => void): unknown;
  close(force: true): Promise<void>;
}

/** The part of BullMQ that is used. */
interface BullMq {
  readonly Queue: new (name: string, options: object) => JobQueue;
  readonly Worker: new (name: string, processor: null, options: object) => JobTaker;
  /** An error after which a job is not tried again. */
  readonly UnrecoverableError: new (message: string) => Error;
}

/** Loads BullMQ. */
export function importBullMq(): Promise<BullMq> {
  return importOptional('bullmq', 'to put tasks on a queue', () => import('bullmq')) as Promise<BullMq>;
}

/** The number of events that BullMQ keeps for each queue. */
const MAX_EVENTS = 100;

/** The options of BullMQ that queues and workers share. */
export function bullOptions({ client }: Redis, prefix: string): object {
  return {
    connection: client,
    prefix,
    // BullMQ would print its remarks about the server to the console. `warnOfSettings` logs them instead.
    skipVersionCheck: true,
    // Nobody reads the stream of events: callers get messages over their own channels.
    streams: { events: { maxLen: MAX_EVENTS } },
  };
}

/** Errors of a lost connection are expected: commands are sent again when Redis answers. */
export function logError(error: unknown): void {
  getLogger().debug({ reason: error instanceof Error ? error.message : String(error) }, 'A command of a queue failed.');
}

/** The names in Redis that all tasks of a prefix share. */
export interface SharedNames {
  /** The set of the queues that have had tasks. */
  readonly queues: string;
  /** The hash of the tasks that are quarantined. */
  readonly quarantine: string;
  /** The channel on which added tasks are announced. */
  readonly added: string;
  /** The channel on which cancelled tasks are announced. */
  readonly cancelled: string;
}

/** Returns the names in Redis that all tasks of a prefix share. */
export function sharedNames(prefix: string): SharedNames {
  return {
    queues: `${prefix}:queues`,
    quarantine: `${prefix}:quarantine`,
    added: `${prefix}:added`,
    cancelled: `${prefix}:cancelled`,
  };
}

/** The names in Redis of one task. */
export interface TaskNames {
  /** The name of the task within its prefix. */
  readonly task: string;
  readonly jobId: string;
  /** The key of the stored output. */
  readonly output: string;
  /** The sorted set of the callers that wait for the task, by the time at which they were last seen. */
  readonly callers: string;
  /** The key that exists if all callers have cancelled the task. */
  readonly cancel: string;
  /** The key of the name of its last worker. */
  readonly worker: string;
  /** The channel of the task's progress. */
  readonly channel: string;
}

/**
 * Returns the name of the queue of a kind. Each version of the package has its own queues, because a task must be done by
 * the version from which its identifier is computed.
 */
export function queueName(kind: string): string {
  return `${kind}@${VERSION}`;
}

/** Returns the names in Redis of one task. */
export function taskNames(prefix: string, kind: string, id: string): TaskNames {
  const task = `${queueName(kind)}/${id}`;
  return {
    task,
    // BullMQ rejects identifiers that are whole numbers.
    jobId: `task-${id}`,
    output: `${prefix}:output:${task}`,
    callers: `${prefix}:callers:${task}`,
    cancel: `${prefix}:cancel:${task}`,
    worker: `${prefix}:worker:${task}`,
    channel: `${prefix}:task:${task}`,
  };
}

/** The key of the sorted set of the workers of a kind, by the time at which they were last seen. */
export function workersKey(prefix: string, kind: string): string {
  return `${prefix}:workers:${queueName(kind)}`;
}

/** The seconds after which a caller or a worker that was not seen counts as gone. */
export const GONE_SECONDS = 60;

/** A message about a running task. Messages may be lost, so that nothing depends on them. */
export type TaskMessage =
  | { readonly type: 'start'; readonly attempt: number }
  | { readonly type: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  | { readonly type: 'end' };

/** Logs a warning if the settings of Redis can lose tasks. */
export async function warnOfSettings({ client, name }: Redis): Promise<void> {
  // A user may lack the permission to read the settings.
  const info = await client.call('INFO', 'memory').catch(() => '');
  const policy = /^maxmemory_policy:(.+?)\r?$/m.exec(String(info))?.[1];
  if (policy === undefined || policy === 'noeviction') return;
  getLogger().warn(
    `${name} may remove tasks and outputs when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy noeviction.`,
  );
}
