import type { OnProgress } from '../../internal/progress.ts';
import type { Job, JobOutcome } from './job.ts';

/** Options of one job at work. */
export interface RunJobOptions {
  readonly folder: string;
  readonly onProgress: OnProgress;
  /** Asks the job to stop. It stops at its next step; a thread is never ended while it works, since native code would take the process with it. */
  readonly signal: AbortSignal;
  /** Called when a thread has begun with it. */
  readonly onStart: () => void;
}

/** Runs jobs, a bounded number at once, none on the event loop of the caller. */
export interface JobRunner {
  /** Whether one more would be refused now. */
  readonly isFull: boolean;
  readonly queued: number;
  readonly running: number;
  /**
   * @throws {ServiceProblem} 503 where the queue is full; what is wrong with the job as 403, 413, 422 or 502; 500 for faults of ours, whose cause is logged
   */
  run(job: Job, options: RunJobOptions): Promise<JobOutcome>;
  /** Lets go of the threads once none is at work. */
  close(): Promise<void>;
}
