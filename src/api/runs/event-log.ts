import type { ProgressEvent } from '../../internal/progress.ts';
import type { RunEvent } from './run-event.ts';
import type { RunStatus } from './run-record.ts';
import type { Unfollow } from './runs.ts';

/** Reports of progress that are kept for who comes late. */
const MOST_PROGRESS = 200;

type OnEvent = (event: RunEvent) => void;

/** What happened to one run: numbered, the last of it kept, each event told to all who follow. */
export class EventLog {
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
    if (this.#progress.length >= 2 * MOST_PROGRESS) this.#progress = this.#progress.slice(-MOST_PROGRESS);
    this.#tell(event);
  }

  /** Tells what is kept of the past after a number, at once, and from then on what happens. */
  follow(after: number, onEvent: OnEvent): Unfollow {
    const follower = { onEvent };
    this.#followers.add(follower);
    const past = [...this.#statuses, ...this.#progress.slice(-MOST_PROGRESS)].filter(({ id }) => id > after);
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
