import type { Logger } from 'pino';

import { createDeferred, type Deferred } from '../../internal/deferred.ts';
import { EventLog } from './event-log.ts';
import type { RunRecord } from './run-record.ts';

/** A run that has not ended. */
export interface ActiveRun {
  record: RunRecord;
  /** See {@link RunRequest.isWaitedFor}. */
  readonly isWaitedFor: boolean;
  /** Whether its end is decided: what comes later is dropped. */
  isDecided: boolean;
  readonly events: EventLog;
  /** Asks its job to stop. */
  readonly controller: AbortController;
  /** Whether it was taken on, once that is known. */
  readonly accepted: Deferred<boolean>;
  /** Its last record, once that is kept. */
  readonly ended: Deferred<RunRecord>;
}

/** A run as it begins. */
export function createActiveRun(record: RunRecord, isWaitedFor: boolean, logger: Logger): ActiveRun {
  return {
    record,
    isWaitedFor,
    isDecided: false,
    events: new EventLog((error) => {
      noteFollower(logger, record.runId, error);
    }),
    controller: new AbortController(),
    accepted: createDeferred(),
    ended: createDeferred(),
  };
}

/** Logs what a follower threw. */
export function noteFollower(logger: Logger, runId: string, error: unknown): void {
  logger.warn({ err: error, runId }, 'a follower of a run failed and is told no more');
}
