import type { SchedulerClock } from '../../../src/llm-evals/scheduler/clock.ts';

interface Timer {
  readonly at: number;
  readonly end: () => void;
}

/** A clock that advances to the next timer when no work is left. */
export class VirtualClock implements SchedulerClock {
  #now = 1_000_000;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = { at: this.#now + millis, end };
      this.#timers.push(timer);
      signal?.addEventListener('abort', end);
    });
  }

  /** Advances time until a promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    promise.then(settle, settle);
    for (;;) {
      // All work at this time is done, including chained promises.
      await new Promise((resolve) => setImmediate(resolve));
      if (state.isSettled) return promise;
      const next = this.#timers.reduce<Timer | undefined>(
        (a, b) => (a === undefined || b.at < a.at ? b : a),
        undefined,
      );
      if (next === undefined) throw new Error('nothing is left to wait for');
      this.#now = Math.max(this.#now, next.at);
      next.end();
    }
  }
}
