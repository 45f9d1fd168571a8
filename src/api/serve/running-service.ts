import { createDeferred } from '../../internal/deferred.ts';
import { urlOf } from './address.ts';
import type { RunningService } from './serve-options.ts';
import { type Ending, stopInOrder } from './stop-in-order.ts';

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
