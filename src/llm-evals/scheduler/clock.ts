import { machineClock } from '../../internal/machine-clock.ts';

/** Time, for what waits. */
export interface SchedulerClock {
  /** In milliseconds; only differences matter. */
  now(): number;
  /** Waits, at most until the signal is aborted; never rejects. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

/** The longest time that a timer takes; a longer one would end at once. */
const MAX_MILLIS = 2 ** 31 - 1;

/** The machine's own. */
export const MACHINE_CLOCK: SchedulerClock = Object.freeze({
  now: machineClock,
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(millis, 0), MAX_MILLIS));
      signal?.addEventListener('abort', end);
    }),
} satisfies SchedulerClock);
