import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import type { TaskData, TaskHandler } from '../../io/queue/task-queue.ts';
import { getFile, putFile } from '../../io/redis/file-blobs.ts';
import type { Redis } from '../../io/redis/open-redis.ts';
import type { JobRunner } from '../jobs/job.ts';
import {
  cancelledByClient,
  noRoomProblem,
  type ProblemJson,
  ServiceProblem,
  uploadLost,
} from '../problem/service-problem.ts';
import type { RunLedger } from './run-ledger.ts';
import { receivedJob, type SentTask, sentTaskSchema, type StoredFile } from './service-task.ts';

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
 * Creates the handler for the jobs of runs: it fetches the upload, executes the job, and stores the files of the run. The
 * problem of a job that fails is an output too, because another attempt would fail in the same way.
 */
export function createServiceJobHandler(options: ServiceJobOptions): TaskHandler {
  const { ledger, folder, logger } = options;
  return async ({ values }, { signal, onProgress }) => {
    const task = sentTaskSchema.parse(values);
    const ended = new AbortController();
    const check = setInterval(() => {
      ledger.isActive(task.runId).then(
        (isActive) => {
          if (!isActive) ended.abort(RUN_ENDED);
        },
        () => undefined,
      );
    }, CHECK_MILLIS);
    check.unref();
    // A task may be tried again on the same machine while the first attempt is stopping.
    const output = path.join(folder, `${randomBytes(4).toString('hex')}-${task.runId}`);
    const folders = { output, input: `${output}.upload` };
    try {
      if (!(await ledger.isActive(task.runId))) throw RUN_ENDED;
      await Promise.all(Object.values(folders).map((one) => mkdir(one)));
      return await execute(task, folders, options, { signal: AbortSignal.any([signal, ended.signal]), onProgress });
    } catch (error) {
      signal.throwIfAborted();
      const problem = problemOfJob(task.runId, error);
      if (problem === undefined) throw error;
      return { values: { problem: JSON.parse(JSON.stringify(problem)) as Record<string, string> }, bytes: {} };
    } finally {
      clearInterval(check);
      for (const one of Object.values(folders)) {
        await rm(one, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
          logger.warn({ err: error, folder: one }, 'a folder cannot be removed');
        });
      }
    }
  };
}

/** Returns the problem of a job that would fail in the same way if it was tried again. */
function problemOfJob(runId: string, error: unknown): ServiceProblem | ProblemJson | undefined {
  // Nobody reads the output of a run that has ended.
  if (error === RUN_ENDED) return cancelledByClient(runId);
  return error instanceof ServiceProblem ? error : noRoomProblem(error, 'the files of a run');
}

async function execute(
  task: SentTask,
  { output, input }: { readonly output: string; readonly input: string },
  { redis, ledger, runner, llmFolder }: ServiceJobOptions,
  context: Parameters<TaskHandler>[1],
): Promise<TaskData> {
  const { runId, upload } = task;
  const prefix = ledger.filesOf(runId);
  const received = path.join(input, upload?.name ?? '');
  if (upload !== null) {
    await getFile(redis, prefix, upload, received).catch((error: unknown) => {
      throw FairnessToolkitError.isInstance(error) ? uploadLost(error) : error;
    });
  }
  const { body, files } = await runner.run(receivedJob(task, received, llmFolder), {
    ...context,
    folder: output,
    onStart: () => undefined,
  });
  const stored: StoredFile[] = [];
  for (const name of files) {
    const own = await putFile(redis, prefix, path.join(output, name), ledger.fileSeconds, async (keys) => {
      if (!(await ledger.noteBlobs(runId, keys, true))) throw RUN_ENDED;
    });
    stored.push({ name, ...own });
  }
  return { values: { files: stored }, bytes: { body: Buffer.from(body) } };
}
