import { setTimeout as delay } from 'node:timers/promises';

import type { Random } from './random.ts';

/** The settings of an exponential backoff. */
export interface Backoff {
  /** The wait before the first retry, in milliseconds, without jitter. */
  readonly baseMillis: number;
  /**
   * The longest wait, in milliseconds, including jitter.
   * @defaultValue Infinity
   */
  readonly capMillis?: number | undefined;
  /**
   * A random factor for each wait, so that clients that failed at the same time do not retry at the same time.
   * @defaultValue none: the factor is 1
   */
  readonly jitter?: Jitter | undefined;
}

/** The range [min, max) of a random factor with a uniform distribution. */
interface Jitter {
  readonly min: number;
  readonly max: number;
  /** The random generator. One number is drawn for each wait. */
  readonly random: Pick<Random, 'next'>;
}

/** The maximum exponent for which 2^retry is finite. A larger exponent could give 0 x Infinity, which is NaN. */
const MAX_EXPONENT = 1023;

/**
 * Returns how long to wait before a retry, in milliseconds: `baseMillis` x 2^retry x jitter, at most `capMillis`.
 * @param retry the number of earlier retries
 */
export function backoffMillis(retry: number, { baseMillis, capMillis = Infinity, jitter }: Backoff): number {
  const factor = jitter === undefined ? 1 : jitter.min + (jitter.max - jitter.min) * jitter.random.next();
  return Math.min(capMillis, baseMillis * 2 ** Math.min(retry, MAX_EXPONENT) * factor);
}

/**
 * The longest delay that `setTimeout` accepts, in milliseconds (24.8 days). With a longer delay, the timer fires
 * immediately.
 */
export const MAX_TIMER_MILLIS = 2 ** 31 - 1;

/**
 * Resolves after the given number of milliseconds, but at most after 24.8 days.
 * @throws the signal's reason if it is aborted earlier
 */
export async function sleep(millis: number, signal?: AbortSignal): Promise<void> {
  const limited = Math.min(Math.max(millis, 0), MAX_TIMER_MILLIS);
  // Node rejects with its own error. This function throws the signal's reason instead.
  await delay(limited, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
}

/**
 * Runs an operation with a signal that is aborted when the time limit expires or `outer` is aborted. Always waits for
 * the operation to end. If the operation may ignore the signal, use `Promise.race` with {@link whenAborted}. The timer
 * and the listener are removed when the operation ends.
 * @param millis the limit, in milliseconds, at most {@link MAX_TIMER_MILLIS}
 * @param timeoutError creates the abort reason for an expired limit; if `outer` is aborted, the reason of `outer` is
 *   used instead
 * @throws any error that the operation throws
 */
export async function withTimeLimit<Result>(
  millis: number,
  timeoutError: () => Error,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort(outer?.reason);
  };
  const timer = setTimeout(() => {
    controller.abort(timeoutError());
  }, millis);
  outer?.addEventListener('abort', stop, { once: true });
  if (outer?.aborted === true) stop();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

/**
 * Returns a promise that never resolves, and rejects when the signal is aborted.
 * @throws the signal's reason when it is aborted
 */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Waits until all work has ended, but at most for some time. Errors of the work are ignored. */
export async function settleWithin(millis: number, work: Iterable<Promise<unknown>>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([Promise.allSettled(work), sleep(millis, timer.signal).catch(() => undefined)]);
  timer.abort();
}
