import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { getLogger } from '../../internal/logger.ts';
import { queueFull, serviceEnds } from '../problem/run-problems.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import type { InternalFault, Job, JobOutcome, JobRunner, RunJobOptions, ThreadAnswer } from './job.ts';
import { ThreadPool } from './thread-pool.ts';

/** Options of {@link createJobRunner}. */
export interface JobRunnerOptions {
  /** Threads for work that computes. */
  readonly threads: number;
  /** Jobs that may wait for a thread. */
  readonly queue: number;
  /**
   * Where faults of ours are told.
   * @defaultValue the package's logger
   */
  readonly logger?: Pick<Logger, 'error'> | undefined;
  /**
   * Names a fault, so that it is found in the log.
   * @defaultValue random UUIDs
   */
  readonly createId?: (() => string) | undefined;
}

/** Threads for language models, beside the others: they wait for a network, and should not keep others waiting. */
const LLM_THREADS = 2;

/** Makes the threads that work on jobs, each when it is first needed. */
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
    const onFault = (error: unknown): void => {
      this.#log.error({ err: error }, 'A thread failed without work.');
    };
    this.#compute = new ThreadPool({ threads, onFault });
    this.#llm = new ThreadPool({ threads: LLM_THREADS, onFault });
    this.#most = threads + queue;
    this.#logger = logger;
    this.#createId = createId;
  }

  /** Those that wait for a language model's thread wait in the same queue, so that one bound holds for all. */
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

  /** A thread that died without an answer, as one without memory does, is a failed job too. */
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

  #internal({ message, stack }: InternalFault, { kind }: Job): ServiceProblem {
    const id = this.#createId();
    this.#log.error({ fault: id, job: kind, message, stack }, 'A job failed inside.');
    return new ServiceProblem(500, {
      detail: `The work failed inside the service. The log has the reason under ${id}.`,
      suggestion: 'Tell the operator of the service this number.',
    });
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge({ kind }: Job): ServiceProblem {
  return new ServiceProblem(422, {
    detail: 'The work needs more memory than one run may have.',
    suggestion:
      kind === 'llm-eval'
        ? 'Ask for fewer prompts: fewer values, templates or repeats.'
        : 'Send fewer rows or columns, or raise the memory of the service.',
  });
}
