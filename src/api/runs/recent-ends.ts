import type { RunRecord } from './run-record.ts';

/**
 * The last records of runs that are not kept, a few of them: who waits from another process may begin to when the run has
 * ended already.
 */
export class RecentEnds {
  readonly #most: number;
  /** The oldest first. */
  readonly #records = new Map<string, RunRecord>();

  constructor(most: number) {
    this.#most = most;
  }

  add(record: RunRecord): void {
    this.#records.set(record.runId, record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > this.#most && oldest !== undefined) this.#records.delete(oldest);
  }

  get(runId: string): RunRecord | undefined {
    return this.#records.get(runId);
  }
}
