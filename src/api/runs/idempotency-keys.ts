import type { IdempotencyClaim, Submitted } from './runs.ts';
import { keyUsedOtherwise } from './run-problems.ts';

/** Keys that are remembered; beyond that the oldest is forgotten. */
const MOST_KEYS = 10_000;

/** How long a key is remembered. */
const KEPT_MILLIS = 24 * 60 * 60 * 1000;

/** Options of {@link IdempotencyKeys}. */
export interface IdempotencyKeysOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Whether a run still stands for its request: it was neither dropped nor cancelled, and did not fail for a reason of ours. */
  readonly isUsable: (runId: string) => Promise<boolean>;
}

interface Entry {
  readonly fingerprint: string;
  readonly submitted: Promise<Submitted>;
  readonly since: number;
}

/**
 * Sees to it that a request that was sent twice under one key is one run, also where both come at once. Keys live as
 * long as the process, in memory alone: a key that is used again after a restart gives a new run.
 */
export class IdempotencyKeys {
  readonly #clock: () => number;
  readonly #isUsable: (runId: string) => Promise<boolean>;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, isUsable }: IdempotencyKeysOptions) {
    this.#clock = clock;
    this.#isUsable = isUsable;
  }

  /**
   * Gives the run of an earlier request under this key, or takes on a new one.
   * @throws {ServiceProblem} 422 where the earlier request was another one, or what `accept` throws
   */
  async once({ key, fingerprint }: IdempotencyClaim, accept: () => Promise<Submitted>): Promise<Submitted> {
    for (;;) {
      const earlier = this.#fresh(key);
      // Nothing is awaited between the look-up and the note, so that of two requests at once one is first.
      if (earlier === undefined) return this.#note(key, fingerprint, accept());
      const runId = await this.#usableRun(earlier);
      if (runId === undefined) {
        this.#drop(key, earlier);
        continue;
      }
      if (earlier.fingerprint !== fingerprint) throw keyUsedOtherwise();
      return { runId, isReplay: true };
    }
  }

  #fresh(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#clock() - entry.since < KEPT_MILLIS) return entry;
    this.#drop(key, entry);
    return undefined;
  }

  #note(key: string, fingerprint: string, submitted: Promise<Submitted>): Promise<Submitted> {
    const entry = { fingerprint, submitted, since: this.#clock() };
    this.#entries.set(key, entry);
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > MOST_KEYS && oldest !== undefined) this.#entries.delete(oldest);
    // What was refused may be tried again.
    submitted.catch(() => {
      this.#drop(key, entry);
    });
    return submitted;
  }

  /** The run of an entry, as soon as it was taken on; undefined where it was refused or is gone. */
  async #usableRun({ submitted }: Entry): Promise<string | undefined> {
    const accepted = await submitted.catch(() => undefined);
    return accepted !== undefined && (await this.#isUsable(accepted.runId)) ? accepted.runId : undefined;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
