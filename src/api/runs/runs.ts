import type { Job, JobOutcome } from '../jobs/job.ts';
import type { ProblemJson } from '../problem/service-problem.ts';

/** The endpoints whose answers are stored. */
export const RUN_ENDPOINTS = [
  '/validate',
  '/pipeline',
  '/workflow',
  '/llm-eval',
  '/predict',
  '/calibrate',
  '/ab-test',
  '/train',
] as const;

/** One of {@link RUN_ENDPOINTS}. */
export type RunEndpoint = (typeof RUN_ENDPOINTS)[number];

/** The states of a run; the last three are final. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** One of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The maximum number of progress reports that are stored for clients that start to follow the run later. */
export const MAX_PROGRESS = 200;

/** The maximum number of stored idempotency keys. If there are more, the oldest key is dropped. */
export const MAX_KEYS = 10_000;

/** The time in milliseconds after which an idempotency key expires. */
export const KEY_MILLIS = 24 * 60 * 60 * 1000;

/** A run in the store: plain data that can be sent to other processes and written to disk. */
export interface RunRecord {
  readonly runId: string;
  readonly endpoint: RunEndpoint;
  readonly status: RunStatus;
  /** The creation time in ISO 8601, like all times. */
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /**
   * The complete response body of the POST request, as JSON text; null if the run has not succeeded. The body is stored
   * as text, so that it is serialized only once and does not need to be parsed.
   */
  readonly body: string | null;
  /** The reason why the run failed or was cancelled. */
  readonly problem: ProblemJson | null;
  /** The ID of the run's last event, which is the final status; 0 before the run has ended. */
  readonly lastEventId: number;
  /** Names of files in the run's folder: `report.md`, `report.html`, `data.parquet`, `data.csv`, `model.zip`. */
  readonly files: readonly string[];
  /** Who can see the run: the tenant of the key that started it; absent if the service had no keys. */
  readonly tenant?: string;
}

/** Returns whether a run belongs to a tenant. */
export function isOf(run: Pick<RunRecord, 'tenant'>, tenant: string): boolean {
  return (run.tenant ?? '') === tenant;
}

/** A run in a list. */
export type RunSummary = Omit<RunRecord, 'body' | 'problem' | 'files' | 'lastEventId'>;

/** Returns whether a status is final. */
export function isFinal(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/**
 * Returns whether nothing needs to be stored at the end of a run, because the waiting client receives the complete
 * outcome.
 * @param isWaitedFor see {@link RunRequest.isWaitedFor}
 */
export function isForgotten(isWaitedFor: boolean, { status, problem }: RunRecord): boolean {
  if (!isWaitedFor) return false;
  return status === 'cancelled' || (status === 'failed' && problem !== null && problem.status < 500);
}

/**
 * Returns whether a run can answer a repeated request: it was not dropped or cancelled, and no internal error occurred.
 */
export function canAnswerAgain(record: RunRecord | undefined): record is RunRecord {
  if (record === undefined || record.status === 'cancelled') return false;
  return record.status !== 'failed' || (record.problem !== null && record.problem.status < 500);
}

/** An event of a run, numbered from 1. The last event is a final status. */
export type RunEvent = Readonly<
  | { id: number; type: 'status'; status: RunStatus }
  | { id: number; type: 'progress'; stage: string; done: number; total: number }
>;

/**
 * The ID of the final event of a run that was left by an earlier process, or lost. The actual number of events is unknown, but smaller than
 * this ID.
 */
export const LAST_EVENT_LEFT = 2 ** 31 - 1;

/** Returns the field of a record that names its tenant, if there is one. */
export function ownedBy(tenant: string | undefined): Pick<RunRecord, 'tenant'> {
  return tenant === undefined || tenant === '' ? {} : { tenant };
}

/** Returns the record of a new run. */
export function queuedRecord(runId: string, endpoint: RunEndpoint, createdAt: string, tenant = ''): RunRecord {
  const unfinished = { finishedAt: null, body: null, problem: null, lastEventId: 0, files: [], ...ownedBy(tenant) };
  return Object.freeze({ runId, endpoint, status: 'queued', createdAt, ...unfinished });
}

/** Compares runs by creation time, newest first. ISO times sort as text. */
export function byCreation(a: RunSummary, b: RunSummary): number {
  if (a.createdAt === b.createdAt) return 0;
  return a.createdAt < b.createdAt ? 1 : -1;
}

/** Returns the record of a run that succeeded. */
export function succeededRecord(
  record: RunRecord,
  { body, files }: JobOutcome,
  finishedAt: string,
  download?: string,
): RunRecord {
  return Object.freeze({
    ...record,
    status: 'succeeded',
    finishedAt,
    body: answerBody(record.runId, body, finishedAt, download),
    problem: null,
    files: Object.freeze([...files]),
  });
}

/** Returns the record of a run that failed or was cancelled. */
export function endedRecord(
  record: RunRecord,
  status: 'failed' | 'cancelled',
  problem: ProblemJson,
  finishedAt: string,
): RunRecord {
  return Object.freeze({ ...record, status, finishedAt, body: null, problem, files: [] });
}

/**
 * Returns the body of an answer: the run's ID and status, the members of the result, and the time. The body is built
 * from text, because results may be large. The parameter `download` is the path at which the client can download the
 * data of the run.
 */
export function answerBody(runId: string, result: string, timestamp: string, download?: string): string {
  const text = result.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) {
    throw new Error(`The result of a job is not a JSON object: ${text.slice(0, 80)}`);
  }
  const members = text.slice(1, -1).trim();
  const between = members === '' ? '' : `${members},`;
  const link = download === undefined ? '' : `"download":${JSON.stringify(download)},`;
  return `{"run_id":${JSON.stringify(runId)},"status":"success",${between}${link}"timestamp":${JSON.stringify(timestamp)}}`;
}

/** Removes the oldest entry of a map that has more than `max` entries. Call it after each new entry. */
export function dropOldest<Value>(entries: Map<string, Value>, max: number): void {
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}

/** An answer that was computed immediately and only needs to be stored. */
export type KeptRun = Pick<RunRecord, 'runId' | 'endpoint' | 'createdAt' | 'tenant'> & { readonly body: string };

/** The client's idempotency key for a request. A request that is sent twice with the same key starts only one run. */
export interface IdempotencyClaim {
  /**
   * The value of the header after the client's name, so that the keys of different clients never collide. The name is
   * the digest of the client's key, or empty.
   */
  readonly key: string;
  /** A digest of the request. The same key with a different request is rejected with 422. */
  readonly fingerprint: string;
}

/** A request for a job. */
export interface RunRequest {
  readonly endpoint: RunEndpoint;
  readonly job: Job;
  /**
   * The folder with the uploads for the job. The `Runs` object owns this folder. The `Runs` object removes the folder
   * when the job has ended, or immediately if the request is rejected or repeats an earlier request.
   */
  readonly inputFolder: string | null;
  readonly idempotency: IdempotencyClaim | null;
  /** See `RunRecord`. */
  readonly tenant?: string;
  /**
   * Whether the client waits for the result without knowing the ID of the run. If so, the store does not contain runs
   * that failed because of the client or were cancelled when it disconnected. They would displace other results.
   */
  readonly isWaitedFor?: boolean | undefined;
  /**
   * The value of the member `download`: the path of the run's data, with `{run_id}` as a placeholder. Undefined if the
   * run produces no data.
   */
  readonly download?: string | undefined;
}

/** A run that was accepted, or found by its idempotency key. */
export interface Submitted {
  readonly runId: string;
  readonly isReplay: boolean;
}

/** The result of DELETE. */
export type Removal = 'cancelled' | 'removed' | 'unknown';

/** The current load, for readiness and metrics. */
export interface RunCounts {
  /** The number of jobs that wait for a thread. */
  readonly queued: number;
  /** The number of busy threads, including those of cancelled runs whose job has not stopped yet. */
  readonly running: number;
  readonly kept: number;
}

/** Ends a subscription. */
export type Unfollow = () => void;

/**
 * The runs of the service: stored, waiting and running. One process owns the runs, or several hosts share them through
 * Redis. In a cluster, the primary process owns the runs, and workers call it through a channel. Problems (queue full, key used for another request) are thrown
 * as `ServiceProblem`.
 */
export interface Runs {
  /** Stores a result. When the promise has resolved, every process can read the result. */
  keep(run: KeptRun): Promise<void>;
  /** Accepts a job, or rejects it with 503 if the queue is full or the service is ending. */
  submit(request: RunRequest): Promise<Submitted>;
  /**
   * Returns the record of a run when it has ended. If the signal is aborted first, rejects with its reason; the run
   * continues.
   */
  wait(runId: string, signal?: AbortSignal): Promise<RunRecord>;
  get(runId: string): Promise<RunRecord | undefined>;
  /** Returns the stored runs, newest first. */
  list(): Promise<readonly RunSummary[]>;
  /** Cancels an active run, or deletes an ended run with its files. */
  remove(runId: string): Promise<Removal>;
  /**
   * Sends all events of a run that follow the given ID, up to the final status. Past events are sent first.
   * @returns undefined for an unknown run
   */
  follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined>;
  /** Runs a job without creating a run, so nothing is stored. The job is rejected in the same cases as in `submit`. */
  work(job: Job): Promise<JobOutcome>;
  counts(): Promise<RunCounts>;
  /**
   * Returns the path of a file of an ended run on this machine, for reading. The file may be missing if the run was
   * removed.
   * @param name one of the names in the record
   */
  fileOf(runId: string, name: string): Promise<string>;
}
