import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';

/** A clock that returns the time and can wait. */
export interface SchedulerClock {
  /**
   * Returns the time in milliseconds. The zero point is arbitrary, so only differences between two times are
   * meaningful.
   */
  now(): number;
  /** Resolves after a time in milliseconds, or when the signal is aborted. Never rejects. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. */
export const MACHINE_CLOCK: SchedulerClock = Object.freeze({
  now: machineClock,
  sleep: (millis, signal) => sleep(millis, signal).catch(() => undefined),
} satisfies SchedulerClock);
