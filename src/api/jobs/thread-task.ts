import type { MessagePort } from 'node:worker_threads';

import type { ProgressEvent } from '../../internal/progress.ts';
import type { ProblemJson } from '../problem/service-problem.ts';
import type { ThreadLimits } from './job-bounds.ts';
import type { Job, JobOutcome } from './job.ts';

/** What a thread is given. */
export interface ThreadTask {
  readonly job: Job;
  readonly folder: string;
  /** What DuckDB may use in it. */
  readonly limits: ThreadLimits;
  /** Variables for this job alone: the key of the provider that it asks. */
  readonly variables: Readonly<Record<string, string>>;
  /** Brings {@link ThreadMessage}s; what comes the other way asks to stop. */
  readonly port: MessagePort;
}

/** What a thread tells while it works. */
export type ThreadMessage = { readonly type: 'started' } | ({ readonly type: 'progress' } & ProgressEvent);

/** A fault of ours, for the log. */
export interface InternalFault {
  readonly message: string;
  readonly stack: string | undefined;
}

/** What a thread answers: an error is no class any more on its way to another. */
export type ThreadAnswer =
  | { readonly ok: true; readonly outcome: JobOutcome }
  | { readonly ok: false; readonly problem: ProblemJson }
  | { readonly ok: false; readonly internal: InternalFault };
