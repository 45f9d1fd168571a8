import { setTimeout as pause } from 'node:timers/promises';

import { createDeferred } from '../../internal/deferred.ts';
import { urlOf } from './address.ts';
import type { RunningService } from './serve-options.ts';

/** The steps of a shutdown. */
interface Ending {
  /** Stops accepting connections. Resolves when all requests are answered. */
  readonly drain: () => Promise<void>;
  /** Lets runs continue for the given time, then cancels the remaining runs and releases their resources. */
  readonly closeRuns: (millis: number) => Promise<void>;
  /** Closes the remaining connections. */
  readonly end: () => Promise<void> | void;
}

/** The time to wait for responses to requests whose runs were cancelled. */
const LAST_ANSWERS_MILLIS = 500;

/** The additional time for work that was asked to stop. */
const STUCK_MILLIS = 500;

/**
 * Shuts a service down in order: first the requests, which may still need runs, then the runs that no client waits for,
 * then the connections that follow events.
 * @param drainMillis the total time for requests and runs; remaining work is then cancelled, and abandoned a second
 *   later
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

/** Waits for a promise, up to a time limit. */
async function atMost(promise: Promise<void>, millis: number): Promise<void> {
  const controller = new AbortController();
  try {
    await Promise.race([promise, pause(millis, undefined, { signal: controller.signal })]);
  } finally {
    controller.abort();
  }
}

/** A started service. */
export interface Started {
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly drainMillis: number;
  readonly ending: Ending;
  /** Rejects when the service cannot continue. */
  readonly failed?: Promise<never>;
}

/** Creates the object with which a user controls the running service. */
export function createRunningService({ host, port, workers, drainMillis, ending, failed }: Started): RunningService {
  const done = createDeferred<undefined>();
  let stopping: Promise<void> | undefined;
  failed?.catch(async (error: unknown) => {
    // No process is left that could answer, so there is nothing to wait for.
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
