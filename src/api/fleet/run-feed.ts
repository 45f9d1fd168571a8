import type { Logger } from 'pino';

import type { RedisClient } from '../../io/redis/open-redis.ts';
import { noteFollower } from '../runs/active-runs.ts';
import { isFinal, LAST_EVENT_LEFT, type RunEvent, type Unfollow } from '../runs/runs.ts';
import type { RunLedger } from './run-ledger.ts';

/** A listener for the events of one run. */
interface Follower {
  /** The ID of the last event that was sent. */
  lastId: number;
  readonly onEvent: (event: RunEvent) => void;
}

/** The followers of one run in this process. */
interface Followed {
  readonly followers: Set<Follower>;
  /** The number of announced changes, and how many of them there were when events were last read. */
  changes: number;
  read: number;
  isReading: boolean;
}

/** Options of {@link RunFeed}. */
export interface RunFeedOptions {
  readonly ledger: RunLedger;
  /** A connection for subscriptions, which reconnects by itself. */
  readonly subscriber: RedisClient;
  readonly logger: Logger;
  /** Called with the ID of a run when a host has announced its end or its removal. */
  readonly onEnd: (runId: string) => void;
  /** Called when a host has left its runs to others. */
  readonly onRelease: () => void;
}

/**
 * Passes the events of runs on to followers in this process. Hosts announce that a run has changed, and the changes are
 * then read from the ledger. An announcement that was lost therefore only delays events until the next look.
 */
export class RunFeed {
  readonly #options: RunFeedOptions;
  readonly #runs = new Map<string, Followed>();

  constructor(options: RunFeedOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { subscriber, ledger, onEnd, onRelease } = this.#options;
    subscriber.on('message', (_channel: string, message: string) => {
      const [runId = '', what] = message.split(' ');
      if (what === 'ended' || what === 'removed') onEnd(runId);
      if (what === 'released') onRelease();
      void this.#read(runId);
    });
    subscriber.on('ready', () => {
      // Announcements were lost while the connection was.
      subscriber.subscribe(ledger.channel).then(
        () => {
          this.look();
        },
        () => undefined,
      );
    });
    await subscriber.subscribe(ledger.channel);
  }

  /** Reads the events of all followed runs. */
  look(): void {
    for (const runId of this.#runs.keys()) void this.#read(runId);
  }

  /**
   * Sends the events of a run after the given one, up to its final status, to a listener.
   * @returns once the past events are sent; undefined for an unknown run
   * @throws {ServiceProblem} 503 if Redis does not answer now
   */
  async follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined> {
    // Nothing that happens after this line is missed.
    const follower: Follower = { lastId: Infinity, onEvent };
    const followed = this.#runs.get(runId) ?? { followers: new Set(), changes: 0, read: 0, isReading: false };
    this.#runs.set(runId, followed);
    followed.followers.add(follower);
    const { changes } = followed;
    const unfollow = (): void => {
      this.#drop(runId, follower);
    };
    try {
      const news = await this.#options.ledger.news(runId, after);
      if (news === undefined) {
        unfollow();
        return undefined;
      }
      const { end, events, lastId } = news;
      // The end is sent again to a client that has seen it.
      follower.lastId = end === null ? Math.min(after, lastId) : Math.min(after, lastId - 1);
      for (const event of end !== null && events.length === 0 ? [end] : events) this.#send(runId, follower, event);
      if (followed.changes !== changes) void this.#read(runId);
      return unfollow;
    } catch (error) {
      unfollow();
      throw error;
    }
  }

  /** Reads the new events of a run and sends them to its followers. Never rejects. */
  async #read(runId: string): Promise<void> {
    const followed = this.#runs.get(runId);
    if (followed === undefined) return;
    followed.changes += 1;
    if (followed.isReading) return;
    followed.isReading = true;
    try {
      while (followed.read !== followed.changes && followed.followers.size > 0) {
        followed.read = followed.changes;
        const from = Math.min(...[...followed.followers].map(({ lastId }) => lastId));
        // Followers that are being added read their first events themselves.
        if (from === Infinity) return;
        const news = await this.#options.ledger.news(runId, from);
        const events: readonly RunEvent[] = news?.events ?? [{ id: LAST_EVENT_LEFT, type: 'status', status: 'failed' }];
        for (const event of events) {
          for (const follower of [...followed.followers]) this.#send(runId, follower, event);
        }
      }
    } catch {
      // Redis does not answer. The next look reads the events.
    } finally {
      followed.isReading = false;
    }
  }

  #send(runId: string, follower: Follower, event: RunEvent): void {
    if (event.id <= follower.lastId || this.#runs.get(runId)?.followers.has(follower) !== true) return;
    follower.lastId = event.id;
    try {
      follower.onEvent(event);
      if (event.type === 'status' && isFinal(event.status)) this.#drop(runId, follower);
    } catch (error) {
      this.#drop(runId, follower);
      noteFollower(this.#options.logger, runId, error);
    }
  }

  #drop(runId: string, follower: Follower): void {
    const followed = this.#runs.get(runId);
    followed?.followers.delete(follower);
    if (followed?.followers.size === 0) this.#runs.delete(runId);
  }
}
