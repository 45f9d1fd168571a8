import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { getLogger } from '../../internal/logger.ts';
import { queueFull, serviceEnds } from '../problem/run-problems.ts';
import { internalProblem, ServiceProblem } from '../problem/service-problem.ts';
import type { InternalFailure, Job, JobOutcome, JobRunner, RunJobOptions, ThreadAnswer } from './job.ts';
import { ThreadPool } from './thread-pool.ts';

/** Options of {@link createJobRunner}. */
export interface JobRunnerOptions {
  /** The number of threads for computing work. */
  readonly threads: number;
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
const LLM_THREADS = 2;

/** Creates the job runner. Each thread is started when it is first needed. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  return new PooledJobRunner(options);
}

class PooledJobRunner implements JobRunner {
  readonly #compute: ThreadPool;
  readonly #llm: ThreadPool;
  readonly #most: number;
  readonly #logger: Pick<Logger, 'error'> | undefined;
  readonly #createId: () => string;
  readonly #atWork = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ threads, queue, logger, createId = randomUUID }: JobRunnerOptions) {
    const onFailure = (error: unknown): void => {
      this.#log.error({ err: error }, 'A thread failed while it was idle.');
    };
    this.#compute = new ThreadPool({ threads, onFailure });
    this.#llm = new ThreadPool({ threads: LLM_THREADS, onFailure });
    this.#most = threads + queue;
    this.#logger = logger;
    this.#createId = createId;
  }

  /** Jobs that wait for a language-model thread count towards the same limit as all other waiting jobs. */
  get isFull(): boolean {
    const { slots } = this.#compute;
    return this.#isClosed || slots.taken + slots.waiting + this.#llm.slots.waiting >= this.#most;
  }

  get queued(): number {
    return this.#compute.slots.waiting + this.#llm.slots.waiting;
  }

  get running(): number {
    return this.#compute.slots.taken + this.#llm.slots.taken;
  }

  get #log(): Pick<Logger, 'error'> {
    return this.#logger ?? getLogger();
  }

  async run(job: Job, options: RunJobOptions): Promise<JobOutcome> {
    if (this.isFull) throw this.#isClosed ? serviceEnds() : queueFull();
    const pool = job.kind === 'llm-eval' ? this.#llm : this.#compute;
    const done = pool.run(job, options);
    this.#atWork.add(done);
    try {
      return this.#read(await this.#settle(done, job), options.signal, job);
    } finally {
      this.#atWork.delete(done);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#atWork);
    await Promise.all([this.#compute.close(), this.#llm.close()]);
  }

  /** Treats a thread that died without an answer, for example from lack of memory, as a failed job. */
  async #settle(done: Promise<ThreadAnswer>, job: Job): Promise<ThreadAnswer> {
    try {
      return await done;
    } catch (error) {
      if (isOutOfMemory(error)) return { ok: false, problem: tooLarge(job).toJSON() };
      if (!(error instanceof Error)) throw error;
      return { ok: false, internal: { message: error.message, stack: error.stack } };
    }
  }

  #read(answer: ThreadAnswer, signal: AbortSignal, job: Job): JobOutcome {
    signal.throwIfAborted();
    if (answer.ok) return answer.outcome;
    throw 'problem' in answer ? ServiceProblem.fromJSON(answer.problem) : this.#internal(answer.internal, job);
  }

  #internal({ message, stack }: InternalFailure, { kind }: Job): ServiceProblem {
    const id = this.#createId();
    this.#log.error({ problem: id, job: kind, message, stack }, 'A job failed with an internal error.');
    return internalProblem(id);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
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
