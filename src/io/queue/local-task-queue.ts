import { LRUCache } from 'lru-cache';

import { FairnessToolkitError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames, suggestNames } from '../../internal/arguments.ts';
import { createDeferred, type Deferred } from '../../internal/deferred.ts';
import { backoffMillis, sleep, whenAborted } from '../../internal/retry.ts';
import { Slots } from '../../internal/slots.ts';
import { MAX_ATTEMPTS, RUN_OPTION_NAMES } from './follow-task.ts';
import { decodeData, encodeData, type EncodedData, type EncodedTask, encodeTask } from './task-data.ts';
import { queueClosed, taskFailed } from './task-errors.ts';
import type { RunTaskOptions, TaskData, TaskHandler, TaskQueue } from './task-queue.ts';

/** Options of {@link localTaskQueue}. */
export interface LocalTaskQueueOptions {
  /**
   * The number of tasks that run at the same time.
   * @defaultValue 1
   */
  readonly concurrency?: number | undefined;
  /**
   * The bytes of outputs that are kept, so that equal tasks are not done again.
   * @defaultValue 67108864, 64 MiB
   */
  readonly keepBytes?: number | undefined;
  /**
   * The time for which outputs are kept, in seconds.
   * @defaultValue 86400, one day
   */
  readonly keepSeconds?: number | undefined;
  /**
   * The time before a task is tried again after an error that is not one of this package, in milliseconds. It doubles
   * with every attempt.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
}

const OPTION_NAMES: OptionNames<LocalTaskQueueOptions> = {
  concurrency: true,
  keepBytes: true,
  keepSeconds: true,
  retryMillis: true,
};

/** A task that waits or runs, and its callers. */
interface LocalTask {
  readonly task: EncodedTask;
  readonly output: Deferred<EncodedData>;
  readonly callers: Set<RunTaskOptions>;
  readonly stop: AbortController;
  isStarted: boolean;
}

/**
 * Creates a queue in this process. It behaves like a queue on Redis: equal tasks run once, outputs are kept for some time,
 * and errors that are not of this package are retried. Inputs and outputs are checked in the same way. Bytes are not
 * copied, so handlers must not change them.
 */
export function localTaskQueue(
  handlers: Readonly<Record<string, TaskHandler>>,
  options: LocalTaskQueueOptions = {},
): TaskQueue {
  assertKnownOptions('localTaskQueue', options, OPTION_NAMES);
  const { concurrency = 1, keepBytes = 2 ** 26, keepSeconds = 86_400, retryMillis = 1000 } = options;
  const name = 'this process';
  const slots = new Slots(concurrency);
  const tasks = new Map<string, LocalTask>();
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const outputs = new LRUCache<string, EncodedData>({
    maxSize: keepBytes,
    ttl: 1000 * keepSeconds,
    sizeCalculation: ({ text, bytes }) =>
      Object.values(bytes).reduce((sum, { length }) => sum + length, 2 * text.length + 1),
  });

  /** Runs a task when a slot is free. The slot is free again when the handler has ended. */
  async function work(own: LocalTask): Promise<EncodedData> {
    const { task, callers, stop } = own;
    const handler = handlers[task.kind] as TaskHandler;
    const onProgress: RunTaskOptions['onProgress'] = (event) => {
      for (const caller of callers) caller.onProgress?.(event);
    };
    await slots.take(stop.signal);
    try {
      own.isStarted = true;
      for (const caller of callers) caller.onStart?.();
      for (let attempt = 1; ; attempt++) {
        stop.signal.throwIfAborted();
        try {
          const input = { kind: task.kind, ...decodeData(task) };
          return encodeData(await handler(input, { onProgress, signal: stop.signal }));
        } catch (error) {
          if (stop.signal.aborted || FairnessToolkitError.isInstance(error)) throw error;
          if (attempt >= MAX_ATTEMPTS) throw taskFailed(task, attempt, error);
        }
        await sleep(backoffMillis(attempt - 1, { baseMillis: retryMillis }), stop.signal);
      }
    } finally {
      slots.release();
    }
  }

  function start(task: EncodedTask, key: string): LocalTask {
    const output = createDeferred<EncodedData>();
    const own: LocalTask = { task, output, callers: new Set(), stop: new AbortController(), isStarted: false };
    tasks.set(key, own);
    work(own)
      .then((done) => {
        outputs.set(key, done);
        output.resolve(done);
      }, output.reject)
      .finally(() => {
        if (tasks.get(key) === own) tasks.delete(key);
      });
    return own;
  }

  return {
    name,
    async run(given, runOptions = {}): Promise<TaskData> {
      assertKnownOptions('run', runOptions, RUN_OPTION_NAMES);
      const { id, signal } = runOptions;
      signal?.throwIfAborted();
      if (isClosed()) throw queueClosed(name);
      const task = encodeTask(given, id);
      if (!Object.hasOwn(handlers, task.kind)) throw unknownKind(task.kind, Object.keys(handlers));
      const key = `${task.kind}/${task.id}`;
      const kept = outputs.get(key);
      if (kept !== undefined) return decodeData(kept);
      const own = tasks.get(key) ?? start(task, key);
      const caller = { ...runOptions };
      own.callers.add(caller);
      if (own.isStarted) caller.onStart?.();
      try {
        const ends = [closing.signal, signal].filter((one) => one !== undefined);
        return decodeData(await Promise.race([own.output.promise, whenAborted(AbortSignal.any(ends))]));
      } catch (error) {
        if (isClosed()) throw queueClosed(name);
        if (signal?.aborted === true && own.callers.size === 1) {
          if (tasks.get(key) === own) tasks.delete(key);
          own.stop.abort(signal.reason);
        }
        throw error;
      } finally {
        own.callers.delete(caller);
      }
    },
    counts: () => Promise.resolve({ queued: slots.waiting, running: slots.taken }),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

function unknownKind(kind: string, known: readonly string[]): ValueError {
  return new ValueError(`This queue does no '${kind}' tasks.`, {
    code: 'unknown-name',
    context: { parameter: 'kind', received: kind, expected: known },
    suggestion: suggestNames(kind, known, 'kinds'),
  });
}
