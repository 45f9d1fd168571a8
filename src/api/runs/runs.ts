import type { Job, JobOutcome } from '../jobs/job.ts';
import type { RunEndpoint, RunEvent, RunRecord, RunSummary } from './run-record.ts';

/** An answer that was computed immediately and only needs to be stored. */
export interface KeptRun {
  readonly runId: string;
  readonly endpoint: RunEndpoint;
  readonly createdAt: string;
  readonly body: string;
}

/** The client's idempotency key for a request. A request that is sent twice with the same key starts only one run. */
export interface IdempotencyClaim {
  /** The header's value, prefixed with the client's name (its key's digest, or empty), so that clients are separate. */
  readonly key: string;
  /** A digest of the request. The same key with a different request is rejected with 422. */
  readonly fingerprint: string;
}

/** A request for a job. */
export interface RunRequest {
  readonly endpoint: RunEndpoint;
  readonly job: Job;
  /**
   * The folder with the uploads for the job. The runs take ownership of it. They remove it when the job has ended, or
   * immediately if the request is rejected or a replay.
   */
  readonly inputFolder: string | null;
  readonly idempotency: IdempotencyClaim | null;
  /**
   * Whether the client waits for the run and does not know its ID. Errors by the client and cancellations by a
   * disconnect are then reported but not stored, so that they do not displace other results.
   */
  readonly isWaitedFor?: boolean | undefined;
  /**
   * The path of the run's data with `{run_id}` as placeholder, for the member `download`. Unset if it produces no data.
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
 * The runs of the service: stored, waiting and running. One process owns them; in a cluster it is the primary, and
 * workers reach it through a channel. Problems (queue full, key used for another request) are thrown as
 * `ServiceProblem`.
 */
export interface Runs {
  /** Stores an answer. When the promise has resolved, every process can find it. */
  keep(run: KeptRun): Promise<void>;
  /** Accepts a job, or rejects it with 503 if the queue is full or the service is ending. */
  submit(request: RunRequest): Promise<Submitted>;
  /**
   * Returns the record of a run when it has ended. Rejects with the signal's reason if aborted first; the run
   * continues.
   */
  wait(runId: string, signal?: AbortSignal): Promise<RunRecord>;
  get(runId: string): Promise<RunRecord | undefined>;
  /** Returns the stored runs, newest first. */
  list(): Promise<readonly RunSummary[]>;
  /** Cancels an active run, or deletes an ended run with its files. */
  remove(runId: string): Promise<Removal>;
  /**
   * Sends each event of a run after the given ID until its final status, past events first.
   * @returns undefined for an unknown run
   */
  follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined>;
  /** Runs a job without creating a run, so nothing is stored. The job is rejected in the same cases as in `submit`. */
  work(job: Job): Promise<JobOutcome>;
  counts(): Promise<RunCounts>;
  /** Returns the folder of a run's files, which is the same in every process. */
  folderOf(runId: string): string;
}
