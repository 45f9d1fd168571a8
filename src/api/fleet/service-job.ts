import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { whenAborted } from '../../internal/retry.ts';
import type { TaskContext, TaskData, TaskHandler } from '../../io/queue/task-queue.ts';
import { digestOf, partKeys, putBlob } from '../../io/redis/blobs.ts';
import { getFile, putFile } from '../../io/redis/file-blobs.ts';
import { isRedisError, type Redis, redisFailed } from '../../io/redis/open-redis.ts';
import type { JobRunner } from '../jobs/job.ts';
import { noRoomProblem, ServiceProblem, uploadLost } from '../problem/service-problem.ts';
import type { RunLedger } from './run-ledger.ts';
import { receivedJob, sentTaskSchema, type StoredFile } from './service-task.ts';

/** The time between two checks whether a run was cancelled. */
const CHECK_MILLIS = 1000;

/** Options of {@link createServiceJobHandler}. */
export interface ServiceJobOptions {
  readonly redis: Redis;
  readonly ledger: RunLedger;
  /** Executes the jobs in threads of this machine. */
  readonly runner: JobRunner;
  /** An existing folder for the files of jobs. */
  readonly folder: string;
  /** The folder of this machine that must contain all paths of a configuration for language models. */
  readonly llmFolder: string | null;
  readonly logger: Logger;
}

/** The reason why a job stops if its run has ended, for example because it was cancelled. */
const RUN_ENDED = new Error('The run has ended.');

/**
 * Creates the handler for the jobs of runs: it fetches the upload, executes the job, and stores the outcome and the files
 * with the run. The problem of a job that fails is an outcome too, because another attempt would fail in the same way.
 */
export function createServiceJobHandler(options: ServiceJobOptions): TaskHandler {
  return async ({ values }, { signal, onProgress }) => {
    const { runId } = sentTaskSchema.parse(values);
    const work = workOn(runId, options, { signal, onProgress });
    // A worker that stops gives the task back at once, although its thread ends only after the current step.
    work.catch(() => undefined);
    return Promise.race([work, whenAborted(signal)]);
  };
}

async function workOn(
  runId: string,
  options: ServiceJobOptions,
  { signal, onProgress }: TaskContext,
): Promise<TaskData> {
  const { ledger, folder, logger } = options;
  const ended = new AbortController();
  const check = setInterval(() => {
    ledger.isActive(runId).then(
      (isActive) => {
        if (!isActive) ended.abort(RUN_ENDED);
      },
      () => undefined,
    );
  }, CHECK_MILLIS);
  check.unref();
  // A task may be tried again on the same machine while the first attempt is stopping.
  const output = path.join(folder, `${randomBytes(4).toString('hex')}-${runId}`);
  const folders = { output, input: `${output}.upload` };
  const context = { signal: AbortSignal.any([signal, ended.signal]), onProgress };
  try {
    await Promise.all(Object.values(folders).map((one) => mkdir(one)));
    return await execute(runId, folders, options, context).catch((error: unknown) => {
      signal.throwIfAborted();
      return explain(runId, options, error);
    });
  } catch (error) {
    // Nobody reads the output of a run that has ended.
    if (error === RUN_ENDED) return { values: null, bytes: {} };
    // A Redis that is full is not asked again.
    throw isRedisError(error) && error.message.startsWith('OOM') ? redisFailed(options.redis.name, error) : error;
  } finally {
    clearInterval(check);
    for (const one of Object.values(folders)) {
      await rm(one, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
        logger.warn({ err: error, folder: one }, 'a folder cannot be removed');
      });
    }
  }
}

async function execute(
  runId: string,
  { output, input }: { readonly output: string; readonly input: string },
  options: ServiceJobOptions,
  context: TaskContext,
): Promise<TaskData> {
  const { redis, ledger, runner, llmFolder } = options;
  const run = await ledger.get(runId, true);
  const job = run?.job ?? null;
  if (job === null) throw RUN_ENDED;
  const received: Record<string, string> = {};
  for (const [part, upload] of Object.entries(job.uploads)) {
    const file = path.join(input, upload.name);
    received[part] = file;
    await getFile(redis, ledger.filesOf(runId), upload, file).catch((error: unknown) => {
      throw FairnessToolkitError.isInstance(error) ? uploadLost(error) : error;
    });
  }
  const { body, files } = await runner.run(receivedJob(job, received, llmFolder), {
    ...context,
    folder: output,
    onStart: () => undefined,
  });
  const stored: StoredFile[] = [];
  for (const name of files) {
    const file = path.join(output, name);
    const own = await putFile(redis, ledger.filesOf(runId), file, ledger.fileSeconds, note(options, runId));
    stored.push({ name, ...own });
  }
  const outcome = await storeText(options, runId, body);
  return { values: { isProblem: false, outcome, files: stored }, bytes: {} };
}

/** Stores the problem of a job that would fail in the same way if it was tried again. Other errors are thrown. */
async function explain(runId: string, options: ServiceJobOptions, error: unknown): Promise<TaskData> {
  const problem = error instanceof ServiceProblem ? error : noRoomProblem(error, 'the files of a run');
  if (problem === undefined) throw error;
  const outcome = await storeText(options, runId, JSON.stringify(problem));
  return { values: { isProblem: true, outcome, files: [] }, bytes: {} };
}

/** Stores text with a run. */
async function storeText(options: ServiceJobOptions, runId: string, text: string): Promise<StoredFile> {
  const { redis, ledger } = options;
  const bytes = Buffer.from(text);
  const digest = digestOf(bytes);
  const prefix = ledger.filesOf(runId);
  const key = `${prefix}:blob:${digest}`;
  await note(options, runId)([key, ...partKeys(key, bytes.length)]);
  await putBlob(redis, prefix, bytes, ledger.fileSeconds, digest);
  return { name: 'outcome.json', digest, bytes: bytes.length };
}

/** Returns a function that notes the keys of what is stored with a run. */
function note({ ledger }: ServiceJobOptions, runId: string): (keys: readonly string[]) => Promise<void> {
  return async (keys) => {
    if (!(await ledger.noteBlobs(runId, keys, true))) throw RUN_ENDED;
  };
}
