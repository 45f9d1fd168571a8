import type { Job, JobOutcome } from '../jobs/job.ts';
import type { RunEndpoint, RunEvent, RunRecord, RunSummary } from './run-record.ts';

/** An answer that was computed at once, and is only to be kept. */
export interface KeptRun {
  readonly runId: string;
  readonly endpoint: RunEndpoint;
  readonly createdAt: string;
  readonly body: string;
}

/** The client's name for a request, so that the same request sent twice is one run. */
export interface IdempotencyClaim {
  /** The header's value, after the client's own name (its key's digest, or nothing), so that clients do not meet. */
  readonly key: string;
  /** A digest of what was sent: the same key with another request is refused with 422. */
  readonly fingerprint: string;
}

/** Heavy work that was asked for. */
export interface RunRequest {
  readonly endpoint: RunEndpoint;
  readonly job: Job;
  /** A folder with what was uploaded for the job. It belongs to the runs from here on: removed when the job has ended, or at once where it is refused or a replay. */
  readonly inputFolder: string | null;
  readonly idempotency: IdempotencyClaim | null;
  /**
   * Whether its client waits for it and knows it by no other name: what went wrong by the client's own fault, or was
   * cancelled since the client has gone, is then told and not kept, so that it takes no other result's place.
   */
  readonly isWaitedFor?: boolean | undefined;
  /** Where the run's data will be, with `{run_id}` for its name: a member `download` of the answer. Unset where it leaves none. */
  readonly download?: string | undefined;
}

/** A run that was taken on, or found by its idempotency key. */
export interface Submitted {
  readonly runId: string;
  readonly isReplay: boolean;
}

/** What DELETE did. */
export type Removal = 'cancelled' | 'removed' | 'unknown';

/** What is going on, for readiness and metrics. */
export interface RunCounts {
  /** Jobs that wait for a thread. */
  readonly queued: number;
  /** Threads at work, also for runs that were cancelled and whose job has not noticed yet. */
  readonly running: number;
  readonly kept: number;
}

/** Ends a subscription. */
export type Unfollow = () => void;

/**
 * The runs of the service: those kept, waiting and at work. There is one owner of them, whichever process asks: in a
 * cluster the primary, and workers reach it through a channel. Problems (queue full, key used for another request) are
 * thrown as `ServiceProblem`.
 */
export interface Runs {
  /** Keeps an answer; when the promise has resolved, any process finds it. */
  keep(run: KeptRun): Promise<void>;
  /** Takes on heavy work, or refuses it with 503 where the queue is full or the service ends. */
  submit(request: RunRequest): Promise<Submitted>;
  /** The record of a run when it has ended; rejects with the signal's reason where that comes first, and the run goes on. */
  wait(runId: string, signal?: AbortSignal): Promise<RunRecord>;
  get(runId: string): Promise<RunRecord | undefined>;
  /** The newest first. */
  list(): Promise<readonly RunSummary[]>;
  /** Cancels a run that has not ended; forgets one that has, with its files. */
  remove(runId: string): Promise<Removal>;
  /**
   * Tells each event of a run after the given number, those of the past first, until its final status.
   * @returns undefined for an unknown run
   */
  follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined>;
  /** Does heavy work that is no run: nothing is kept of it. Refused as `submit` refuses. */
  work(job: Job): Promise<JobOutcome>;
  counts(): Promise<RunCounts>;
  /** The folder of a run's files. Every process sees the same. */
  folderOf(runId: string): string;
}
