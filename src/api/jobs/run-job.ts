import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { receiveMessageOnPort } from 'node:worker_threads';

import type { OnProgress } from '../../internal/progress.ts';
import { withDuckDbLimits } from '../../io/duckdb-limits.ts';
import { escapePattern } from '../../internal/values.ts';
import type { ProblemJson } from '../problem/service-problem.ts';
import {
  type InternalFailure,
  type Job,
  type JobContext,
  type JobOutcome,
  ROW_FILES,
  type ThreadAnswer,
  type ThreadMessage,
  type ThreadTask,
  uploadsOf,
} from './job.ts';
import { problemOfToolkitError } from './problem-of-toolkit-error.ts';

/**
 * Removes the paths of the service's files from the texts of a problem. The path of the upload is replaced by "the
 * uploaded file". A file in the folder for language models is shown with its path relative to that folder. The names of
 * all other folders are removed.
 */
export function concealPaths(problem: ProblemJson, job: Job, folder: string): ProblemJson {
  const conceal = concealer(job, folder);
  const { detail, suggestion, errors } = problem;
  return {
    ...problem,
    detail: conceal(detail),
    ...(suggestion === undefined ? {} : { suggestion: conceal(suggestion) }),
    ...(errors === undefined ? {} : { errors: errors.map((one) => ({ ...one, detail: conceal(one.detail) })) }),
  };
}

function concealer(job: Job, folder: string): (text: string) => string {
  const uploads = uploadPaths(job);
  const llmFolder = job.kind === 'llm-eval' && job.llmFolder !== null ? formsOf(job.llmFolder) : [];
  const inside = llmFolder.map((own) => own + path.sep);
  const elsewhere = [...llmFolder, ...formsOf(folder), ...uploads.map((own) => path.dirname(own))];
  const indices = [...elsewhere, process.cwd(), tmpdir(), homedir()].filter((location) => location.length > 1);
  return (text) => {
    // The folder to which the archive of a model is unpacked.
    const sent = text.replaceAll(`the model '${path.join(folder, 'model')}'`, 'the model');
    const named = uploads.reduce(
      (reported, upload) => reported.replaceAll(`'${upload}'`, UPLOAD).replaceAll(upload, UPLOAD),
      sent,
    );
    const relative = inside.reduce((reported, prefix) => reported.replaceAll(prefix, ''), named);
    const hidden = indices.reduce((reported, location) => hidePath(reported, location), relative);
    return hidden.replaceAll(/(^|[.!?\n] )the uploaded file/g, '$1The uploaded file');
  };
}

const UPLOAD = 'the uploaded file';

/** Returns the paths of the uploads, and of the files to which the rows of a JSON body are written. */
function uploadPaths(job: Job): string[] {
  const uploads = Object.values(uploadsOf(job));
  const body = 'files' in job ? job.files['body'] : undefined;
  const rows = body === undefined ? [] : ROW_FILES.map((name) => path.join(path.dirname(body), name));
  return [...uploads, ...rows].flatMap(formsOf);
}

/** Returns a path in its original form and as an absolute path. */
function formsOf(given: string): string[] {
  return [...new Set([given, path.resolve(given)])].sort((a, b) => b.length - a.length);
}

/** Replaces the path of a folder, and all paths inside this folder, in a text. */
function hidePath(text: string, location: string): string {
  if (!text.includes(location)) return text;
  return text.replaceAll(
    new RegExp(`${escapePattern(location)}(?![\\p{L}\\p{N}_-])(?:[/\\\\][^\\s'",;:)]*)?`, 'gu'),
    'a folder of the service',
  );
}

/** The minimum time in milliseconds between two progress reports of the same stage. */
const MIN_MILLIS = 100;

/**
 * Limits progress reports to about ten per second, plus the first and the last of each stage.
 * @param clock returns the current time in milliseconds
 */
export function throttleProgress(onProgress: OnProgress, clock: () => number): OnProgress {
  let stage: string | undefined;
  let reported = 0;
  return (event) => {
    const now = clock();
    if (event.stage === stage && event.done < event.total && now - reported < MIN_MILLIS) return;
    stage = event.stage;
    reported = now;
    onProgress(event);
  };
}

/** Runs one job. This is the entry point of a thread. */
export default async function runTask({ job, folder, limits, variables, port }: ThreadTask): Promise<ThreadAnswer> {
  const controller = new AbortController();
  const { signal } = controller;
  const reportNow = (message: ThreadMessage): void => {
    port.postMessage(message);
  };
  port.on('message', () => {
    controller.abort();
  });
  const report = throttleProgress(
    (event) => {
      reportNow({ type: 'progress', ...event });
    },
    () => performance.now(),
  );
  const onProgress: OnProgress = (event) => {
    // Work that blocks the thread can detect an abort only here.
    if (receiveMessageOnPort(port) !== undefined) controller.abort();
    report(event);
  };
  reportNow({ type: 'started' });
  // A thread runs one job at a time and has its own environment.
  Object.assign(process.env, variables);
  try {
    const run = (): Promise<JobOutcome> => runJob(job, { folder, onProgress, signal });
    return { ok: true, outcome: await withDuckDbLimits({ ...limits, signal }, run) };
  } catch (error) {
    const subject = job.kind === 'check' ? job.job : job;
    const problem = problemOfToolkitError(error, subject)?.toJSON();
    if (problem === undefined) return { ok: false, internal: internalFailure(error) };
    return { ok: false, problem: concealPaths(problem, subject, folder) };
  } finally {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
    port.close();
  }
}

/**
 * Runs a job in the current thread.
 * @throws {Error} any error that the library throws
 */
export async function runJob(job: Job, context: JobContext): Promise<JobOutcome> {
  // Each kind is imported on first use, because tensors and models are large.
  switch (job.kind) {
    case 'validate-rows':
      return (await import('./validation-jobs.ts')).runValidateRows(job, context);
    case 'validate-table':
      return (await import('./validation-jobs.ts')).runValidateTable(job, context);
    case 'pipeline':
      return (await import('./config-jobs.ts')).runPipelineJob(job, context);
    case 'workflow':
      return (await import('./config-jobs.ts')).runWorkflowJob(job, context);
    case 'llm-eval':
      return (await import('./llm-eval-job.ts')).runLlmEvalJob(job, context);
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train':
      return (await import('./table-jobs.ts')).runTableJob(job, context);
    case 'check':
      await (await import('./check-job.ts')).checkJob(job.job);
      return { body: '{}', files: [] };
    case 'named-model':
      return (await import('./rows-body.ts')).runNamedModel(job);
    case 'monitor-report':
      return (await import('./monitor-report-job.ts')).runMonitorReport(job);
    case 'validation-report':
      return (await import('./validation-jobs.ts')).runValidationReport(job);
  }
}

function internalFailure(error: unknown): InternalFailure {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const cause = error.cause instanceof Error ? `; caused by ${String(error.cause.stack)}` : '';
  return { message: error.message, stack: `${error.stack ?? ''}${cause}` };
}
