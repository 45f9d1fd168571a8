import type { JobOutcome } from '../jobs/job.ts';
import type { ProblemJson } from '../problem/service-problem.ts';
import { answerBody } from './answer-body.ts';
import type { RunRecord } from './run-record.ts';

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
