import { machineClock } from '../../internal/machine-clock.ts';

/** The time source of waits and limits. */
export interface SchedulerClock {
  /** The time in milliseconds. Only differences matter. */
  now(): number;
  /** Waits, at most until the signal is aborted. Never rejects. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

/** The maximum delay of a timer. A longer one would end at once. */
const MAX_MILLIS = 2 ** 31 - 1;

/** The clock of the machine. */
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
