import type { Logger } from 'pino';

import { createDeferred, type Deferred } from '../../internal/deferred.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import type { RunEvent, RunRecord, RunStatus } from './run-record.ts';
import type { Unfollow } from './runs.ts';

/** The maximum number of progress reports kept for later followers. */
const MAX_PROGRESS = 200;

type OnEvent = (event: RunEvent) => void;

/** The numbered events of one run. Stores the most recent ones and passes each event to all followers. */
class EventLog {
  readonly #onFailure: (error: unknown) => void;
  readonly #followers = new Set<{ readonly onEvent: OnEvent }>();
  #statuses: RunEvent[] = [];
  #progress: RunEvent[] = [];
  #lastId = 0;

  /** @param onFailure called with the error that a follower throws; that follower receives no more events */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** The ID of the last event; 0 if there is none. */
  get lastId(): number {
    return this.#lastId;
  }

  status(status: RunStatus): void {
    const event = Object.freeze({ id: ++this.#lastId, type: 'status', status } as const);
    this.#statuses.push(event);
    this.#report(event);
  }

  /** Adds a progress report, unless it equals the last one. */
  progress({ stage, done, total }: ProgressEvent): void {
    const last = this.#progress.at(-1);
    if (last?.type === 'progress' && last.stage === stage && last.done === done && last.total === total) return;
    const event = Object.freeze({ id: ++this.#lastId, type: 'progress', stage, done, total } as const);
    this.#progress.push(event);
    // The list is halved occasionally, which is cheaper than removing an item for each event.
    if (this.#progress.length >= 2 * MAX_PROGRESS) this.#progress = this.#progress.slice(-MAX_PROGRESS);
    this.#report(event);
  }

  /** Sends the stored events after the given ID immediately, and new events as they occur. */
  follow(after: number, onEvent: OnEvent): Unfollow {
    const follower = { onEvent };
    this.#followers.add(follower);
    const past = [...this.#statuses, ...this.#progress.slice(-MAX_PROGRESS)].filter(({ id }) => id > after);
    for (const event of past.sort((a, b) => a.id - b.id)) this.#reportOne(follower, event);
    return () => {
      this.#followers.delete(follower);
    };
  }

  #report(event: RunEvent): void {
    for (const follower of [...this.#followers]) this.#reportOne(follower, event);
  }

  #reportOne(follower: { readonly onEvent: OnEvent }, event: RunEvent): void {
    if (!this.#followers.has(follower)) return;
    try {
      follower.onEvent(event);
    } catch (error) {
      this.#followers.delete(follower);
      this.#onFailure(error);
    }
  }
}

/** A run that has not ended. */
export interface ActiveRun {
  record: RunRecord;
  /** See {@link RunRequest.isWaitedFor}. */
  readonly isWaitedFor: boolean;
  /** Whether the end of the run is decided. Later results are discarded. */
  isDecided: boolean;
  readonly events: EventLog;
  /** Aborted to ask the job to stop. */
  readonly controller: AbortController;
  /** Resolves to true if the run was accepted, otherwise to false. */
  readonly accepted: Deferred<boolean>;
  /** Resolves to the last record, once it is stored. */
  readonly ended: Deferred<RunRecord>;
}

/** Creates an active run. */
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

/** Logs an error that a follower has thrown. */
export function noteFollower(logger: Logger, runId: string, error: unknown): void {
  logger.warn({ err: error, runId }, 'a follower of a run failed and gets no more events');
}
