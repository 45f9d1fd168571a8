import type { JobOutcome } from '../jobs/job.ts';
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

/** Something that happened to a run, numbered from 1 within it. The last event of a run is a final status. */
export type RunEvent = Readonly<
  | { id: number; type: 'status'; status: RunStatus }
  | { id: number; type: 'progress'; stage: string; done: number; total: number }
>;

/** The record of a run that succeeded. */
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

/** The record of a run that failed or was cancelled. */
export function endedRecord(
  record: RunRecord,
  status: 'failed' | 'cancelled',
  problem: ProblemJson,
  finishedAt: string,
): RunRecord {
  return Object.freeze({ ...record, status, finishedAt, body: null, problem, files: [] });
}

/** Puts a result's members between the run's and the time, as text: results may be large, and need not be understood. `download` is where the run's data are. */
export function answerBody(runId: string, result: string, timestamp: string, download?: string): string {
  const text = result.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) {
    throw new Error(`A job gave what is no JSON object: ${text.slice(0, 80)}`);
  }
  const members = text.slice(1, -1).trim();
  const between = members === '' ? '' : `${members},`;
  const link = download === undefined ? '' : `"download":${JSON.stringify(download)},`;
  return `{"run_id":${JSON.stringify(runId)},"status":"success",${between}${link}"timestamp":${JSON.stringify(timestamp)}}`;
}
