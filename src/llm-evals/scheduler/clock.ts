import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';

/** A source of time and waits. */
export interface SchedulerClock {
  /** Returns the time in milliseconds; only differences matter. */
  now(): number;
  /** Resolves after a time in milliseconds, or when the signal is aborted. Never rejects. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export const MACHINE_CLOCK: SchedulerClock = Object.freeze({
  now: machineClock,
  sleep: (millis, signal) => sleep(millis, signal).catch(() => undefined),
} satisfies SchedulerClock);
