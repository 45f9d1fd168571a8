import { setTimeout as pause } from 'node:timers/promises';

import { createDeferred } from '../../internal/deferred.ts';
import { urlOf } from './address.ts';
import type { RunningService } from './serve-options.ts';

/** What has to end. */
interface Ending {
  /** Takes no more connections; resolves when all requests are answered. */
  readonly drain: () => Promise<void>;
  /** Lets runs end for so many milliseconds, cancels the rest, and lets go of what they held. */
  readonly closeRuns: (millis: number) => Promise<void>;
  /** Ends connections that are left. */
  readonly end: () => Promise<void> | void;
}

/** Requests whose runs were cancelled are told so within this time. */
const LAST_ANSWERS_MILLIS = 500;

/** Work that cannot be stopped is not waited for longer, once it was asked to. */
const STUCK_MILLIS = 500;

/**
 * Ends a service in good order: requests first, as they may still need runs, then the runs that nobody waits for, then
 * connections that follow events.
 * @param drainMillis for both together; what is left then is cancelled, and a second later no longer waited for
 */
export async function stopInOrder({ drain, closeRuns, end }: Ending, drainMillis: number): Promise<void> {
  const begin = performance.now();
  const answered = drain();
  await atMost(answered, drainMillis);
  const left = Math.max(0, Math.floor(drainMillis - (performance.now() - begin)));
  await atMost(closeRuns(left), left + STUCK_MILLIS);
  await atMost(answered, LAST_ANSWERS_MILLIS);
  await end();
}

/** Waits for a promise, but not longer than that. */
async function atMost(promise: Promise<void>, millis: number): Promise<void> {
  const controller = new AbortController();
  try {
    await Promise.race([promise, pause(millis, undefined, { signal: controller.signal })]);
  } finally {
    controller.abort();
  }
}

/** What listens. */
export interface Started {
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly drainMillis: number;
  readonly ending: Ending;
  /** Rejects when the service cannot go on. */
  readonly failed?: Promise<never>;
}

/** A service that listens, as its user sees it. */
export function createRunningService({ host, port, workers, drainMillis, ending, failed }: Started): RunningService {
  const done = createDeferred<undefined>();
  let stopping: Promise<void> | undefined;
  failed?.catch(async (error: unknown) => {
    // What is at work has nobody left who could answer for it.
    await stopInOrder(ending, 0).catch(() => undefined);
    done.reject(error);
  });
  return Object.freeze({
    url: urlOf(host, port),
    port,
    workers,
    stop: () => {
      stopping ??= stopInOrder(ending, drainMillis).then(() => {
        done.resolve(undefined);
      }, done.reject);
      return stopping;
    },
    done: done.promise,
  });
}
