import type { MessagePort } from 'node:worker_threads';

import type { OnProgress, ProgressEvent } from '../../internal/progress.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import type { TableJobKind } from '../../schemas/table-jobs.ts';
import type { ProblemJson } from '../problem/service-problem.ts';
import type { ThreadLimits } from './job-bounds.ts';

/** Names that appear in the report of a validation but not in its result. */
export interface ReportNames {
  readonly source: string;
  /** The name of the attribute if there is only one. If there are several, the result contains their names. */
  readonly attribute: string;
}

/** The names for data that were sent as arrays without names. */
export const ROWS_NAMES: ReportNames = Object.freeze({ source: 'the rows of the request', attribute: 'sensitive' });

/** The name of the file in which a run stores its {@link ReportNames}. */
export const NAMES_FILE = 'report-names.json';

/** The name of the file in which a run stores its model. */
export const MODEL_ARCHIVE = 'model.zip';

/** A validation of arrays (`POST /validate`). The arrays are JSON text in a file. */
interface ValidateRowsJob {
  readonly kind: 'validate-rows';
  readonly path: string;
  readonly maxItems: number;
}

/** A validation of an uploaded table (`POST /validate`). */
interface ValidateTableJob {
  readonly kind: 'validate-table';
  readonly path: string;
  readonly format: 'csv' | 'ndjson' | 'parquet';
  /** The query parameters, or the fields of the form, as text, by name. */
  readonly options: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Where the options come from.
   * @defaultValue 'query'
   */
  readonly source?: 'query' | 'form';
}

/** A pipeline or a workflow (`POST /pipeline`, `POST /workflow`). */
export interface FormJob {
  readonly kind: 'pipeline' | 'workflow';
  readonly path: string;
  /** The configuration as YAML text. */
  readonly config: string;
  /** The other fields of the form, by name. */
  readonly fields: Readonly<Record<string, string>>;
}

/** An evaluation of a language model (`POST /llm-eval`). */
export interface LlmEvalJob {
  readonly kind: 'llm-eval';
  /** The JSON body as text. */
  readonly body: string;
  /** The folder that must contain all paths of a configuration; null if paths are not allowed. */
  readonly llmFolder: string | null;
}

/** A prediction, a calibration, an A/B test or a training (`POST /predict`, `/calibrate`, `/ab-test`, `/train`). */
export interface TableJob {
  readonly kind: TableJobKind;
  /** The paths of the uploads by the names of their parts. A JSON body is the file `body`. */
  readonly files: Readonly<Record<string, string>>;
  /** The fields of a form as text; null for a JSON body. */
  readonly fields: Readonly<Record<string, string | readonly string[]>> | null;
  /** The maximum number of rows in a JSON body. */
  readonly maxItems: number;
}

/** The names of the files to which the rows of a JSON body are written, next to the body. */
export const ROW_FILES: readonly string[] = ['rows', 'control_rows', 'treatment_rows', 'test_rows'].map(
  (name) => `${name}.ndjson`,
);

/** Creates the report of a validation from its result. */
interface ValidationReportJob {
  readonly kind: 'validation-report';
  readonly form: 'html' | 'markdown';
  readonly names: ReportNames;
  /** The response body of the POST request. */
  readonly result: string;
}

/** Creates the page or the text of a monitored stream from the content of its dashboard. */
interface MonitorReportJob {
  readonly kind: 'monitor-report';
  readonly form: 'html' | 'markdown';
  readonly title: string;
  readonly view: MonitoringView;
}

/** Checks the configuration and the options of another job, without its data. */
interface CheckJob {
  readonly kind: 'check';
  readonly job: Job;
}

/** Finds the run that the JSON body of `POST /predict` names as its model. The result has the member `model`. */
interface NamedModelJob {
  readonly kind: 'named-model';
  readonly path: string;
}

/** A job for a thread: plain data that can be sent to the thread. */
export type Job =
  | ValidateRowsJob
  | ValidateTableJob
  | FormJob
  | LlmEvalJob
  | TableJob
  | ValidationReportJob
  | MonitorReportJob
  | CheckJob
  | NamedModelJob;

/** Returns the paths of the uploads of a job by the names of their parts. */
export function uploadsOf(job: Job): Readonly<Record<string, string>> {
  if ('files' in job) return job.files;
  return 'path' in job ? { path: job.path } : {};
}

/** A job of one kind. */
export type JobOf<Kind extends Job['kind']> = Extract<Job, { readonly kind: Kind }>;

/** The context that a job receives in addition to its data. */
export interface JobContext {
  /** An existing, empty folder for the files of the run: reports and data. */
  readonly folder: string;
  readonly onProgress: OnProgress;
  /**
   * The signal that asks the job to stop. The job then stops at its next step. Threads are never terminated while they
   * work, because terminating native code would crash the process.
   */
  readonly signal: AbortSignal;
}

/** The result of a job. */
export interface JobOutcome {
  /**
   * The body as JSON text: an object without run_id, status and timestamp, exactly as the command prints it with
   * `--json`, but on one line. For a report, the body is the report's text as a JSON string.
   */
  readonly body: string;
  /** The names of the files that the job wrote to its folder. */
  readonly files: readonly string[];
}

/** Options for running one job. */
export interface RunJobOptions extends JobContext {
  /** Called when a thread has started the job. */
  readonly onStart: () => void;
}

/** Runs a limited number of jobs concurrently. Jobs never block the event loop of the caller. */
export interface JobRunner {
  /** Whether the queue is full, so that a new job would be rejected. */
  readonly isFull: boolean;
  readonly queued: number;
  readonly running: number;
  /**
   * @throws {ServiceProblem} 503 if the queue is full; 403, 413, 422 or 502 for an invalid or failed job; 500 for
   *   internal errors, whose cause is logged
   */
  run(job: Job, options: RunJobOptions): Promise<JobOutcome>;
  /** Waits until no thread is working, and then releases the threads. */
  close(): Promise<void>;
}

/** The input of a thread. */
export interface ThreadTask {
  readonly job: Job;
  readonly folder: string;
  /** The resources that DuckDB may use in the thread. */
  readonly limits: ThreadLimits;
  /** Environment variables for this job only: the key of the provider that it uses. */
  readonly variables: Readonly<Record<string, string>>;
  /** The port to which the thread sends {@link ThreadMessage}s. A message from the main thread asks the job to stop. */
  readonly port: MessagePort;
}

/** A message that a thread sends while it works. */
export type ThreadMessage = { readonly type: 'started' } | ({ readonly type: 'progress' } & ProgressEvent);

/** An internal error, for the log. */
export interface InternalFailure {
  readonly message: string;
  readonly stack: string | undefined;
}

/** The answer of a thread. Errors are plain data, because their class is lost between threads. */
export type ThreadAnswer =
  | { readonly ok: true; readonly outcome: JobOutcome }
  | { readonly ok: false; readonly problem: ProblemJson }
  | { readonly ok: false; readonly internal: InternalFailure };
