import { randomUUID } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';

import type { Logger } from 'pino';
import type { Piscina } from 'piscina';

import { getLogger } from '../../internal/logger.ts';
import { builtFile } from '../../internal/packages.ts';
import { Slots } from '../../internal/slots.ts';
import { internalProblem, queueFull, serviceEnds, ServiceProblem } from '../problem/service-problem.ts';
import { type ThreadLimits, threadLimits } from './job-bounds.ts';
import type { Job, JobRunner, RunJobOptions, ThreadAnswer, ThreadMessage, ThreadTask } from './job.ts';
import { inheritedEnvironment, providerEnvironment } from './service-environment.ts';

/** The time after which an idle thread is ended. */
const IDLE_MILLIS = 60_000;

/**
 * A pool of threads for jobs. Jobs wait in this pool and not in the queue of piscina, so that a waiting job can be
 * cancelled. Piscina aborts a job by terminating its thread; terminating a thread during a DuckDB query would end the
 * process.
 */
class ThreadPool {
  readonly slots: Slots;
  readonly #limits: ThreadLimits;
  readonly #onFailure: (error: unknown) => void;
  #pool: Promise<Piscina<ThreadTask, ThreadAnswer>> | undefined;

  /** @param onFailure called when an idle thread fails; without a listener, this would end the process */
  constructor(threads: number, onFailure: (error: unknown) => void) {
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

  /** Releases the threads. Call this method only when no thread is working. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina<ThreadTask, ThreadAnswer>> {
    const { Piscina: Pool } = await import('piscina');
    // No memory limits are set, because a thread that reaches its limit during JSON.parse crashes the process.
    const pool = new Pool<ThreadTask, ThreadAnswer>({
      filename: builtFile('cli/run-job.js'),
      minThreads: 0,
      maxThreads: this.slots.count,
      idleTimeout: IDLE_MILLIS,
      // An idle thread must be able to close its sockets and run its timers.
      atomics: 'disabled',
      env: inheritedEnvironment(process.env),
    });
    pool.on('error', this.#onFailure);
    return pool;
  }
}

async function runInThread(
  pool: Piscina<ThreadTask, ThreadAnswer>,
  task: Omit<ThreadTask, 'port'>,
  { onProgress, onStart, signal }: RunJobOptions,
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

/** Options of {@link createJobRunner}. */
export interface JobRunnerOptions {
  /** The number of threads for all jobs except language-model jobs. */
  readonly threads: number;
  /**
   * The number of additional threads for language-model jobs.
   * @defaultValue 2
   */
  readonly llmThreads?: number | undefined;
  /** The number of jobs that may wait for a thread. */
  readonly queue: number;
  /**
   * The logger for internal errors.
   * @defaultValue the package's logger
   */
  readonly logger?: Pick<Logger, 'error'> | undefined;
  /**
   * Returns the ID under which an internal error is logged.
   * @defaultValue random UUIDs
   */
  readonly createId?: (() => string) | undefined;
}

/**
 * The number of additional threads for language-model jobs. These jobs mostly wait for the network and should not block
 * other work.
 */
export const LLM_THREADS = 2;

/** Creates the job runner. A thread is started only when a job needs it. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { threads, llmThreads = LLM_THREADS, queue, logger, createId = randomUUID } = options;
  const logError = (fields: object, message: string): void => {
    (logger ?? getLogger()).error(fields, message);
  };
  const onFailure = (error: unknown): void => {
    logError({ err: error }, 'A thread failed while it was idle.');
  };
  const compute = new ThreadPool(threads, onFailure);
  const llm = new ThreadPool(llmThreads, onFailure);
  const atWork = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    get isFull() {
      // Jobs that wait for a language-model thread count towards the same limit as all other waiting jobs.
      return isClosed || compute.slots.taken + this.queued >= threads + queue;
    },
    get queued() {
      return compute.slots.waiting + llm.slots.waiting;
    },
    get running() {
      return compute.slots.taken + llm.slots.taken;
    },
    async run(job, options) {
      if (this.isFull) throw isClosed ? serviceEnds() : queueFull();
      const done = (job.kind === 'llm-eval' ? llm : compute).run(job, options);
      atWork.add(done);
      try {
        const answer = await done.catch((error: unknown) => failureOf(error, job));
        options.signal.throwIfAborted();
        if (answer.ok) return answer.outcome;
        if ('problem' in answer) throw ServiceProblem.fromJSON(answer.problem);
        const id = createId();
        logError({ problem: id, job: job.kind, ...answer.internal }, 'A job failed with an internal error.');
        throw internalProblem(id);
      } finally {
        atWork.delete(done);
      }
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(atWork);
      await Promise.all([compute.close(), llm.close()]);
    },
  };
}

/** Returns the error for a thread that ended without a result, for example because it ran out of memory. */
function failureOf(error: unknown, job: Job): ThreadAnswer {
  if (!(error instanceof Error)) throw error;
  const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (isOutOfMemory) return { ok: false, problem: tooLarge(job).toJSON() };
  return { ok: false, internal: { message: error.message, stack: error.stack } };
}

function tooLarge({ kind }: Job): ServiceProblem {
  return new ServiceProblem(422, {
    detail: 'The run needs more memory than a single run may use.',
    suggestion:
      kind === 'llm-eval'
        ? 'Send fewer prompts: fewer values, templates or repeats.'
        : 'Send fewer rows or columns, or raise the memory of the service.',
  });
}
