import { receiveMessageOnPort } from 'node:worker_threads';

import type { ProgressEvent } from '../../internal/progress.ts';
import { withDuckDbLimits } from '../../io/duckdb-limits.ts';
import { concealPaths } from './conceal-paths.ts';
import type { Job, JobContext, JobOutcome } from './job.ts';
import { problemOfToolkitError } from '../problem/problem-of-toolkit-error.ts';
import type { InternalFault, ThreadAnswer, ThreadMessage, ThreadTask } from './thread-task.ts';
import { throttleProgress } from './throttle-progress.ts';

/** The entry of a thread: does one job. */
export default async function runTask({ job, folder, limits, variables, port }: ThreadTask): Promise<ThreadAnswer> {
  const controller = new AbortController();
  const { signal } = controller;
  const tell = (message: ThreadMessage): void => {
    port.postMessage(message);
  };
  port.on('message', () => {
    controller.abort();
  });
  const report = throttleProgress(
    (event: ProgressEvent) => {
      tell({ type: 'progress', ...event });
    },
    () => performance.now(),
  );
  const onProgress = (event: ProgressEvent): void => {
    // Work that never lets go of the thread hears of an abort here alone.
    if (receiveMessageOnPort(port) !== undefined) controller.abort();
    report(event);
  };
  tell({ type: 'started' });
  // A thread does one job at a time, and its environment is its own.
  Object.assign(process.env, variables);
  try {
    return {
      ok: true,
      outcome: await withDuckDbLimits({ ...limits, signal }, () => runJob(job, { folder, onProgress, signal })),
    };
  } catch (error) {
    return failed(error, job, folder);
  } finally {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
    port.close();
  }
}

/**
 * Does a job, in whatever thread this is.
 * @throws {Error} what is wrong with it, as the library has it
 */
export async function runJob(job: Job, context: JobContext): Promise<JobOutcome> {
  // Each kind is loaded when a thread first has one: tensors and models are large.
  switch (job.kind) {
    case 'validate-rows':
      return (await import('./validate-rows-job.ts')).runValidateRows(job, context);
    case 'validate-table':
      return (await import('./validate-table-job.ts')).runValidateTable(job, context);
    case 'pipeline':
      return (await import('./pipeline-job.ts')).runPipelineJob(job, context);
    case 'workflow':
      return (await import('./workflow-job.ts')).runWorkflowJob(job, context);
    case 'llm-eval':
      return (await import('./llm-eval-job.ts')).runLlmEvalJob(job, context);
    case 'validation-report':
      return (await import('./validation-report-job.ts')).runValidationReport(job);
  }
}

function failed(error: unknown, job: Job, folder: string): ThreadAnswer {
  const problem = problemOfToolkitError(error, job);
  if (problem === undefined) return { ok: false, internal: internalFault(error) };
  return { ok: false, problem: concealPaths(problem.toJSON(), job, folder) };
}

function internalFault(error: unknown): InternalFault {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const cause = error.cause instanceof Error ? `; caused by ${String(error.cause.stack)}` : '';
  return { message: error.message, stack: `${error.stack ?? ''}${cause}` };
}
