import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';

import type { Piscina } from 'piscina';

import { Slots } from '../../internal/slots.ts';
import { type ThreadLimits, threadLimits } from './job-bounds.ts';
import type { Job, RunJobOptions, ThreadAnswer, ThreadMessage, ThreadTask } from './job.ts';
import { inheritedEnvironment, providerEnvironment } from './service-environment.ts';

/** The time for which an idle thread is kept. */
const IDLE_MILLIS = 60_000;

/** Options of a {@link ThreadPool}. */
export interface ThreadPoolOptions {
  readonly threads: number;
  /** Called when an idle thread fails. Without a listener, this would end the process. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The threads for jobs. Jobs wait here and not in piscina, so that a waiting job can be cancelled. Piscina aborts a job
 * by terminating its thread; terminating a thread during a DuckDB query would end the process.
 */
export class ThreadPool {
  readonly slots: Slots;
  readonly #limits: ThreadLimits;
  readonly #onFailure: (error: unknown) => void;
  #pool: Promise<Piscina<ThreadTask, ThreadAnswer>> | undefined;

  constructor({ threads, onFailure }: ThreadPoolOptions) {
    this.slots = new Slots(threads);
    this.#limits = threadLimits(threads);
    this.#onFailure = onFailure;
  }

  /** Runs a job when a thread is free. Rejects with the signal's reason if the signal is aborted first. */
  async run(job: Job, options: RunJobOptions): Promise<ThreadAnswer> {
    await this.slots.take(options.signal);
    try {
      const pool = await (this.#pool ??= this.#open());
      options.signal.throwIfAborted();
      const variables = job.kind === 'llm-eval' ? providerEnvironment(job.body, process.env) : {};
      return await runInThread(pool, { job, folder: options.folder, limits: this.#limits, variables }, options);
    } finally {
      this.slots.release();
    }
  }

  /** Releases the threads. Call it only when no thread is working. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina<ThreadTask, ThreadAnswer>> {
    const { Piscina: Pool } = await import('piscina');
    const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
    // No memory limits are set, because a thread that reaches its limit during JSON.parse crashes the process.
    const pool = new Pool<ThreadTask, ThreadAnswer>({
      filename: new URL(`./run-job${extension}`, import.meta.url).href,
      minThreads: 0,
      maxThreads: this.slots.count,
      idleTimeout: IDLE_MILLIS,
      // An idle thread must be able to close its sockets and run its timers.
      atomics: 'disabled',
      env: inheritedEnvironment(process.env),
      ...(extension === '.ts' ? { execArgv: sourceLoader() } : {}),
    });
    pool.on('error', this.#onFailure);
    return pool;
  }
}

/**
 * Returns the options for threads that run TypeScript sources, as in tests. Node 20 loads TypeScript sources only in
 * the main thread.
 */
function sourceLoader(): string[] {
  const path = createRequire(import.meta.url)
    .resolve('tsx/esm/api')
    .replace(/cjs$/, 'mjs');
  const loader = pathToFileURL(path).href;
  const code = `import * as loader from ${JSON.stringify(loader)}; loader.register();`;
  return [...process.execArgv, '--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

async function runInThread(
  pool: Piscina<ThreadTask, ThreadAnswer>,
  task: Omit<ThreadTask, 'port'>,
  { onProgress, onStart, signal }: Omit<RunJobOptions, 'folder'>,
): Promise<ThreadAnswer> {
  const { port1, port2 } = new MessageChannel();
  port1.on('message', (message: ThreadMessage) => {
    if (message.type === 'started') onStart();
    else onProgress({ stage: message.stage, done: message.done, total: message.total });
  });
  port1.unref();
  const stop = (): void => {
    port1.postMessage('stop');
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await pool.run({ ...task, port: port2 }, { transferList: [port2] });
  } finally {
    signal.removeEventListener('abort', stop);
    port1.close();
  }
}
