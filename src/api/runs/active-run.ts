import type { Logger } from 'pino';

import { createDeferred, type Deferred } from '../../internal/deferred.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import type { RunEvent, RunRecord, RunStatus } from './run-record.ts';
import type { Unfollow } from './runs.ts';

/** Reports of progress that are kept for who comes late. */
const MAX_PROGRESS = 200;

type OnEvent = (event: RunEvent) => void;

/** What happened to one run: numbered, the last of it kept, each event told to all who follow. */
class EventLog {
  readonly #onFault: (error: unknown) => void;
  readonly #followers = new Set<{ readonly onEvent: OnEvent }>();
  #statuses: RunEvent[] = [];
  #progress: RunEvent[] = [];
  #lastId = 0;

  /** @param onFault told what a follower throws; that follower is told no more */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** The number of the last event; 0 for none. */
  get lastId(): number {
    return this.#lastId;
  }

  status(status: RunStatus): void {
    const event = Object.freeze({ id: ++this.#lastId, type: 'status', status } as const);
    this.#statuses.push(event);
    this.#tell(event);
  }

  /** Adds a report; one that says the same as the last is no news. */
  progress({ stage, done, total }: ProgressEvent): void {
    const last = this.#progress.at(-1);
    if (last?.type === 'progress' && last.stage === stage && last.done === done && last.total === total) return;
    const event = Object.freeze({ id: ++this.#lastId, type: 'progress', stage, done, total } as const);
    this.#progress.push(event);
    // Halved from time to time rather than shifted each time.
    if (this.#progress.length >= 2 * MAX_PROGRESS) this.#progress = this.#progress.slice(-MAX_PROGRESS);
    this.#tell(event);
  }

  /** Tells what is kept of the past after a number, at once, and from then on what happens. */
  follow(after: number, onEvent: OnEvent): Unfollow {
    const follower = { onEvent };
    this.#followers.add(follower);
    const past = [...this.#statuses, ...this.#progress.slice(-MAX_PROGRESS)].filter(({ id }) => id > after);
    for (const event of past.sort((a, b) => a.id - b.id)) this.#tellOne(follower, event);
    return () => {
      this.#followers.delete(follower);
    };
  }

  #tell(event: RunEvent): void {
    for (const follower of [...this.#followers]) this.#tellOne(follower, event);
  }

  #tellOne(follower: { readonly onEvent: OnEvent }, event: RunEvent): void {
    if (!this.#followers.has(follower)) return;
    try {
      follower.onEvent(event);
    } catch (error) {
      this.#followers.delete(follower);
      this.#onFault(error);
    }
  }
}

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
