import type { Allowance } from '../app/service-context.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import type { RenderedMetrics } from '../middleware/metrics.ts';
import type { RunRecord, RunSummary } from '../runs/run-record.ts';
import type { KeptRun, Removal, RunCounts, RunRequest, Submitted } from '../runs/runs.ts';
import type { WorkerSettings } from './worker-settings.ts';

// Types, not interfaces: only these have an index signature.

/** What workers ask the primary for what concerns runs. `follow` answers whether there is such a run; its events are `RunEvent`s. */
export type RunMethods = {
  keep: (run: KeptRun) => undefined;
  submit: (request: RunRequest) => Submitted;
  wait: (runId: string) => RunRecord;
  get: (runId: string) => RunRecord | undefined;
  list: (_: undefined) => readonly RunSummary[];
  remove: (runId: string) => Removal;
  work: (job: Job) => JobOutcome;
  follow: (place: { readonly runId: string; readonly after: number }) => boolean;
  counts: (_: undefined) => RunCounts;
  /** One request of a client that is limited. */
  take: (client: string) => Allowance;
};

/** What workers ask the primary. */
export type PrimaryMethods = RunMethods & {
  settings: (_: undefined) => WorkerSettings;
  /** The worker takes connections. */
  ready: (_: undefined) => undefined;
  renderMetrics: (_: undefined) => RenderedMetrics;
};
