import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';

import type { Piscina } from 'piscina';

import { type ThreadLimits, threadLimits } from './job-bounds.ts';
import type { Job, RunJobOptions, ThreadAnswer, ThreadMessage, ThreadTask } from './job.ts';
import { inheritedEnvironment, providerEnvironment } from './service-environment.ts';

/** Lends a bounded number of slots; who comes later waits in line. */
export class Slots {
  readonly #count: number;
  readonly #line: (() => void)[] = [];
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#line.length;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a slot as soon as there is one; given back by {@link release}.
   * @throws {unknown} the signal's reason, where that comes first
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#count) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        // The reason is the caller's, whatever it is.
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(enter);
    });
  }

  release(): void {
    const next = this.#line.shift();
    // The slot passes on without being free in between.
    if (next === undefined) this.#taken--;
    else next();
  }
}

/** How long a thread stays without work. */
const IDLE_MILLIS = 60_000;

/** Options of a {@link ThreadPool}. */
export interface ThreadPoolOptions {
  readonly threads: number;
  /** Told of a thread that failed without work; without a listener it would end the process. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Threads for jobs. Who waits for a thread waits here and not in piscina, so that it can leave the line; piscina's own
 * way to abort ends a thread, and ending one with a query of DuckDB in it would end the process.
 */
export class ThreadPool {
  readonly slots: Slots;
  readonly #limits: ThreadLimits;
  readonly #onFault: (error: unknown) => void;
  #pool: Promise<Piscina<ThreadTask, ThreadAnswer>> | undefined;

  constructor({ threads, onFault }: ThreadPoolOptions) {
    this.slots = new Slots(threads);
    this.#limits = threadLimits(threads);
    this.#onFault = onFault;
  }

  /** Runs a job when there is a thread; rejects with the signal's reason where that comes before. */
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

  /** Lets go of the threads; to be called when none is at work. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina<ThreadTask, ThreadAnswer>> {
    const { Piscina: Pool } = await import('piscina');
    const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
    // No limits of memory: a thread that meets its own in the middle of JSON.parse takes the process with it.
    const pool = new Pool<ThreadTask, ThreadAnswer>({
      filename: new URL(`./run-job${extension}`, import.meta.url).href,
      minThreads: 0,
      maxThreads: this.slots.count,
      idleTimeout: IDLE_MILLIS,
      // A thread without work shall let its sockets and timers run out.
      atomics: 'disabled',
      env: inheritedEnvironment(process.env),
      ...(extension === '.ts' ? { execArgv: sourceLoader() } : {}),
    });
    pool.on('error', this.#onFault);
    return pool;
  }
}

/** Run from its sources, as tests do, a thread needs what reads TypeScript: Node 20 gives that to the first thread alone. */
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
