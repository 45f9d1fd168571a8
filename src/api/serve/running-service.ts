import { setTimeout as pause } from 'node:timers/promises';

import type { FilledOptions, OptionNames } from '../../internal/arguments.ts';
import { createDeferred } from '../../internal/deferred.ts';
import { APP_OPTION_NAMES, type AppOptions } from '../app/app-options.ts';
import { urlOf } from './address.ts';

/** Options of {@link serve}: the address, the number of processes, and the options of the app. */
export interface ServeOptions extends Omit<AppOptions, 'store' | 'clock' | 'createId'> {
  /**
   * The address: a host name or IP address of this machine.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * The port; 0 for any free port.
   * @defaultValue 8000
   */
  readonly port?: number | undefined;
  /**
   * The number of processes that answer requests. With more than one, an additional process owns the runs, from which
   * all processes read the results.
   * @defaultValue 1
   */
  readonly workers?: number | undefined;
  /**
   * The time in milliseconds for which requests and runs may continue after `stop()`. After this time, remaining
   * requests and runs are cancelled.
   * @defaultValue 30000
   */
  readonly drainMillis?: number | undefined;
  /**
   * Whether to allow access without keys on an address that other machines can reach.
   * @defaultValue false
   */
  readonly insecure?: boolean | undefined;
}

const { store: _store, clock: _clock, createId: _createId, ...OF_THE_APP } = APP_OPTION_NAMES;

/** Lists the options of {@link ServeOptions}. */
export const SERVE_OPTION_NAMES: OptionNames<ServeOptions> = {
  ...OF_THE_APP,
  host: true,
  port: true,
  workers: true,
  drainMillis: true,
  insecure: true,
};

/** The options with their defaults filled in. */
export type FilledServeOptions = ServeOptions &
  FilledOptions<Pick<ServeOptions, 'host' | 'port' | 'keys' | 'drainMillis'>>;

/** A running service. */
export interface RunningService {
  /** The URL of the service, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  readonly workers: number;
  /**
   * Stops accepting connections. Requests and runs may finish within the time in the options, and are then cancelled.
   * Further calls return the same promise.
   */
  stop(): Promise<void>;
  /** Resolves when the service has stopped; rejects if it cannot continue. */
  readonly done: Promise<void>;
}

/** The steps of a shutdown. */
interface Ending {
  /** Returns whether runs are waiting or running. */
  readonly isBusy: () => boolean;
  /** Refuses requests that start work. All others are still answered. */
  readonly refuseWork: () => Promise<void> | void;
  /** Stops accepting connections. Resolves when all requests are answered. */
  readonly drain: () => Promise<void>;
  /** Lets runs continue for the given time, then cancels the remaining runs and releases their resources. */
  readonly closeRuns: (millis: number) => Promise<void>;
  /** Closes the remaining connections. */
  readonly end: () => Promise<void> | void;
}

/** The time to wait for responses to requests whose runs were cancelled. */
const LAST_ANSWERS_MILLIS = 500;

/** The time for which the result of the last run can still be fetched. */
const LAST_RESULTS_MILLIS = 1000;

/** The additional time for work that was asked to stop. */
const STUCK_MILLIS = 500;

/** The time between two checks whether the last run has ended. */
const BUSY_MILLIS = 50;

/**
 * Shuts a service down in order. While runs are active, the service only refuses new work, so that clients can still get
 * the results. Then requests end, because they may still need runs. Runs that no client waits for end next, and event
 * streams end last.
 * @param drainMillis the total time for requests and runs; after this time, remaining work is cancelled, and one second
 * later the service ends without waiting for it
 */
export async function stopInOrder(ending: Ending, drainMillis: number): Promise<void> {
  const { isBusy, refuseWork, drain, closeRuns, end } = ending;
  const begin = performance.now();
  const left = (): number => Math.max(0, Math.floor(drainMillis - (performance.now() - begin)));
  if (isBusy() && drainMillis > 0) {
    await refuseWork();
    while (isBusy() && left() > LAST_RESULTS_MILLIS) await pause(BUSY_MILLIS);
    // Clients that poll for the result of the last run have time to get it.
    await pause(Math.min(LAST_RESULTS_MILLIS, left()));
  }
  const answered = drain();
  // A timer may end up to a millisecond early.
  await atMost(answered, left() + 1);
  await atMost(closeRuns(left()), left() + STUCK_MILLIS);
  await atMost(answered, LAST_ANSWERS_MILLIS);
  await end();
}

/** Waits until a promise is settled or a time limit expires. */
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

/** Creates the object that controls a running service. */
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
