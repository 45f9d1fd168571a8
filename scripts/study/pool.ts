import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import { openTaskQueue } from '../../src/io/queue/redis-task-queue.ts';
import type { JsonValue } from '../../src/io/queue/task-queue.ts';
import { startTaskWorker } from '../../src/io/queue/task-worker.ts';

/** The options of `parseArgs` that say who simulates: threads, or the workers of a queue on Redis. */
export const POOL_OPTIONS = {
  workers: { type: 'string', default: String(availableParallelism()) },
  redis: { type: 'string' },
  'redis-prefix': { type: 'string' },
  serve: { type: 'boolean', default: false },
} as const;

/** Who simulates a study. */
export interface Pool {
  /** The module of a thread, which answers each message. */
  readonly worker: URL;
  /** The name of the study. */
  readonly kind: string;
  readonly workers: string;
  readonly redis?: string | undefined;
  readonly 'redis-prefix'?: string | undefined;
}

/** The number of chunks for each worker that are on a queue at the same time, so that no worker waits. */
const AHEAD = 64;

/** Simulates chunks. The answers are in the order of the chunks, for any number of threads and hosts. */
export async function simulateAll<Answer>(
  pool: Pool,
  chunks: readonly object[],
  progress: (done: number) => void,
): Promise<Answer[]> {
  const answers = new Array<Answer>(chunks.length);
  let next = 0;
  let done = 0;
  const { ask, width, close } = pool.redis === undefined ? openThreads(pool) : await openQueue(pool);
  const runSome = async (): Promise<void> => {
    for (let index = next++; index < chunks.length; index = next++) {
      answers[index] = (await ask(chunks[index] as object)) as Answer;
      progress(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(width, chunks.length) }, runSome));
  } finally {
    await close();
  }
  return answers;
}

/** Simulates the chunks of other processes with the same --redis, until SIGINT or SIGTERM. */
export async function serveStudy(pool: Pool): Promise<void> {
  if (pool.redis === undefined) throw new Error('--serve needs --redis.');
  const threads = openThreads(pool);
  let done = 0;
  const worker = await startTaskWorker({
    redis: pool.redis,
    prefix: pool['redis-prefix'],
    concurrency: threads.width,
    handlers: {
      [`study-${pool.kind}`]: async ({ values }) => {
        const { chunk } = values as { readonly chunk: object };
        const answer = (await threads.ask(chunk)) as JsonValue;
        process.stderr.write(`Simulated ${String(++done)} parts\n`);
        return { values: answer, bytes: {} };
      },
    },
  });
  process.stderr.write(`Waiting for chunks of the study '${pool.kind}' on ${worker.redis}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.close());
  await worker.done;
  await threads.close();
}

/** Computes chunks. */
interface Asked {
  readonly ask: (chunk: object) => Promise<unknown>;
  /** The number of chunks at the same time. */
  readonly width: number;
  readonly close: () => Promise<void>;
}

async function openQueue({ kind, workers, redis = '', 'redis-prefix': prefix }: Pool): Promise<Asked> {
  const queue = await openTaskQueue({ redis, prefix });
  // The sources may have changed since an earlier run of the same version, so that its answers are not used again.
  const run = randomUUID();
  return {
    async ask(chunk) {
      const values = { run, chunk: chunk as JsonValue };
      return (await queue.run({ kind: `study-${kind}`, values, bytes: {} })).values;
    },
    width: AHEAD * Number(workers),
    close: () => queue.close(),
  };
}

function openThreads({ worker, workers }: Pool): Asked {
  const idle: Worker[] = [];
  const waiting: ((thread: Worker) => void)[] = [];
  const all = Array.from({ length: Number(workers) }, () => new Worker(worker));
  idle.push(...all);
  const release = (thread: Worker): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(thread);
    else next(thread);
  };
  return {
    async ask(chunk) {
      const thread = idle.pop() ?? (await new Promise<Worker>((resolve) => waiting.push(resolve)));
      try {
        return await new Promise((resolve, reject) => {
          const end = (settle: () => void): void => {
            thread.off('message', onMessage).off('error', onError);
            settle();
          };
          const onMessage = (answer: unknown): void => {
            end(() => {
              resolve(answer);
            });
          };
          const onError = (error: Error): void => {
            end(() => {
              reject(error);
            });
          };
          thread.on('message', onMessage).on('error', onError).postMessage(chunk);
        });
      } finally {
        release(thread);
      }
    },
    width: all.length,
    close: async () => {
      await Promise.all(all.map((thread) => thread.terminate()));
    },
  };
}
