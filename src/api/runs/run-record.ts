import type { ProblemJson } from '../problem/service-problem.ts';

/** The endpoints whose answers are kept. */
export const RUN_ENDPOINTS = ['/validate', '/pipeline', '/workflow', '/llm-eval'] as const;

/** One of {@link RUN_ENDPOINTS}. */
export type RunEndpoint = (typeof RUN_ENDPOINTS)[number];

/** The states of a run; the last three are final. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** One of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run as the store keeps it: plain data, which travels between processes and to disk. */
export interface RunRecord {
  readonly runId: string;
  readonly endpoint: RunEndpoint;
  readonly status: RunStatus;
  /** ISO 8601, as are the other times. */
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /**
   * The whole body that POST answers, as JSON text; null unless the run succeeded. Text, so that it is written once and
   * neither a process nor a file need understand it.
   */
  readonly body: string | null;
  /** Why it failed or was cancelled. */
  readonly problem: ProblemJson | null;
  /** The number of its last event, the final status; 0 until then. */
  readonly lastEventId: number;
  /** Names of files in the run's folder: `report.md`, `report.html`, `data.parquet`, `data.csv`. */
  readonly files: readonly string[];
}

/** A run in a list. */
export type RunSummary = Omit<RunRecord, 'body' | 'problem' | 'files' | 'lastEventId'>;

/** Whether nothing more will happen to a run. */
export function isFinal(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}
