import type { JobOutcome } from '../jobs/job.ts';
import type { ProblemJson } from '../problem/service-problem.ts';

/** The endpoints whose answers are stored. */
export const RUN_ENDPOINTS = ['/validate', '/pipeline', '/workflow', '/llm-eval'] as const;

/** One of {@link RUN_ENDPOINTS}. */
export type RunEndpoint = (typeof RUN_ENDPOINTS)[number];

/** The states of a run; the last three are final. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** One of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run in the store: plain data that can be sent to other processes and written to disk. */
export interface RunRecord {
  readonly runId: string;
  readonly endpoint: RunEndpoint;
  readonly status: RunStatus;
  /** ISO 8601, like the other times. */
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /**
   * The complete body of the answer to POST as JSON text; null unless the run succeeded. It is text so that it is
   * serialized only once and does not need to be parsed.
   */
  readonly body: string | null;
  /** The reason why it failed or was cancelled. */
  readonly problem: ProblemJson | null;
  /** The ID of its last event, the final status; 0 until then. */
  readonly lastEventId: number;
  /** Names of files in the run's folder: `report.md`, `report.html`, `data.parquet`, `data.csv`. */
  readonly files: readonly string[];
}

/** A run in a list. */
export type RunSummary = Omit<RunRecord, 'body' | 'problem' | 'files' | 'lastEventId'>;

/** Returns whether a status is final. */
export function isFinal(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** An event of a run, numbered from 1. The last event is a final status. */
export type RunEvent = Readonly<
  | { id: number; type: 'status'; status: RunStatus }
  | { id: number; type: 'progress'; stage: string; done: number; total: number }
>;

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
 * Inserts the members of a result between those of the run and the time. It works on text, because results may be
 * large. `download` is the path of the run's data.
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

/** Removes the oldest entry of a map that has more than `max`. Call it after each new entry. */
export function dropOldest<Value>(entries: Map<string, Value>, max: number): void {
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}
