import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';

import { decodeError } from '../../io/queue/task-errors.ts';
import { createDeferred } from '../../internal/deferred.ts';
import { builtFile } from '../../internal/packages.ts';
import type { OnProgress, ProgressEvent } from '../../internal/progress.ts';
import type { SweepAnswer, SweepShard, SweepWork } from './sweep-worker.ts';
import type { TrainedNetworks } from './train-networks.ts';

/** Threads that train shards. */
export interface ShardThreads {
  /** Whether a thread could not start. Then no shard can be trained any more. */
  readonly isBroken: boolean;
  /** Trains a shard in a free thread. At the signal, the thread is ended. */
  train(
    shard: SweepShard,
    options: { readonly onProgress: OnProgress; readonly signal: AbortSignal | undefined },
  ): Promise<TrainedNetworks>;
  close(): Promise<void>;
}

/** Options of {@link openShardThreads}. */
interface ShardThreadsOptions {
  readonly maxThreads: number;
  /**
   * The time after which a thread without work is ended, in milliseconds.
   * @defaultValue 0
   */
  readonly idleMillis?: number;
}

/** Returns the number of cores that this process can use. */
export function coreCount(): number {
  return availableParallelism();
}

/** Opens threads that train shards. Threads without work do not keep the process running. */
export async function openShardThreads({ maxThreads, idleMillis = 0 }: ShardThreadsOptions): Promise<ShardThreads> {
  const { Piscina } = await import('piscina');
  const pool = new Piscina<SweepWork, SweepAnswer>({
    filename: builtFile('cli/sweep-thread.js'),
    minThreads: Math.min(1, maxThreads),
    maxThreads,
    idleTimeout: idleMillis,
    // A thread must be able to close its port.
    atomics: 'disabled',
  });
  const broken = createDeferred<never>();
  let isBroken = false;
  pool.on('error', (error: unknown) => {
    // A thread that cannot start belongs to no shard. The pool would try again forever.
    isBroken = true;
    broken.reject(error);
    void pool.destroy();
  });
  return {
    get isBroken() {
      return isBroken;
    },
    async train(shard, { onProgress, signal }) {
      signal?.throwIfAborted();
      const { port1, port2 } = new MessageChannel();
      port1.on('message', (event: ProgressEvent) => {
        onProgress(event);
      });
      port1.unref();
      const closed = once(port1, 'close');
      const task = { shard, port: port2 };
      try {
        const answer = await Promise.race([
          pool.run(task, { transferList: [port2], ...(signal === undefined ? {} : { signal }) }),
          broken.promise,
        ]);
        // The thread has closed its port. The last reports of progress arrive before the end of this one.
        port1.ref();
        await closed;
        if ('trained' in answer) return answer.trained;
        throw decodeError(answer.failed);
      } catch (error) {
        // The pool reports an abort as another error, so the signal's own reason is thrown here.
        signal?.throwIfAborted();
        throw error;
      }
    },
    close: () => pool.destroy(),
  };
}
