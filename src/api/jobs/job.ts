import type { MessagePort } from 'node:worker_threads';

import type { OnProgress, ProgressEvent } from '../../internal/progress.ts';
import type { ProblemJson } from '../problem/service-problem.ts';
import type { ThreadLimits } from './job-bounds.ts';

/** What a validation is called in its report, since that is not in its result. */
export interface ReportNames {
  readonly source: string;
  /** The one attribute; several have their names in the result. */
  readonly attribute: string;
}

/** Of arrays, which come without a file, and one attribute without a name. */
export const ROWS_NAMES: ReportNames = Object.freeze({ source: 'the rows of the request', attribute: 'sensitive' });

/** The file in which a run leaves its {@link ReportNames}. */
export const NAMES_FILE = 'report-names.json';

/** `POST /validate` with arrays: the JSON text lies in a file. */
export interface ValidateRowsJob {
  readonly kind: 'validate-rows';
  readonly path: string;
  readonly mostItems: number;
}

/** `POST /validate` with a table that was uploaded. */
export interface ValidateTableJob {
  readonly kind: 'validate-table';
  readonly path: string;
  readonly format: 'csv' | 'ndjson' | 'parquet';
  /** The query's options by their wire names, still as text. */
  readonly options: Readonly<Record<string, string | readonly string[]>>;
}

/** `POST /pipeline` */
export interface PipelineJob {
  readonly kind: 'pipeline';
  readonly path: string;
  /** YAML text. */
  readonly config: string;
  /** The other fields of the form, by their names. */
  readonly fields: Readonly<Record<string, string>>;
}

/** `POST /workflow` */
export interface WorkflowJob {
  readonly kind: 'workflow';
  readonly path: string;
  readonly config: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** `POST /llm-eval` */
export interface LlmEvalJob {
  readonly kind: 'llm-eval';
  /** The JSON body as text. */
  readonly body: string;
  /** The folder that paths in a configuration are confined to; null where the service has none. */
  readonly llmFolder: string | null;
}

/** The report of a validation, made of its result. */
export interface ValidationReportJob {
  readonly kind: 'validation-report';
  readonly form: 'html' | 'markdown';
  readonly names: ReportNames;
  /** The body that POST answered. */
  readonly result: string;
}

/** Heavy work: plain data that travels to a thread. */
export type Job = ValidateRowsJob | ValidateTableJob | PipelineJob | WorkflowJob | LlmEvalJob | ValidationReportJob;

/** What a job is given beside its data. */
export interface JobContext {
  /** An existing, empty folder for files that the run leaves: reports, data. */
  readonly folder: string;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
}

/** What a job gives. */
export interface JobOutcome {
  /** The body as JSON text, an object without run_id, status and timestamp: exactly what the command prints with --json, on one line. Of a report, its text as JSON. */
  readonly body: string;
  /** Names of the files that it left in its folder. */
  readonly files: readonly string[];
}

/** Options of one job at work. */
export interface RunJobOptions {
  readonly folder: string;
  readonly onProgress: OnProgress;
  /** Asks the job to stop. It stops at its next step; a thread is never ended while it works, since native code would take the process with it. */
  readonly signal: AbortSignal;
  /** Called when a thread has begun with it. */
  readonly onStart: () => void;
}

/** Runs jobs, a bounded number at once, none on the event loop of the caller. */
export interface JobRunner {
  /** Whether one more would be refused now. */
  readonly isFull: boolean;
  readonly queued: number;
  readonly running: number;
  /**
   * @throws {ServiceProblem} 503 where the queue is full; what is wrong with the job as 403, 413, 422 or 502; 500 for faults of ours, whose cause is logged
   */
  run(job: Job, options: RunJobOptions): Promise<JobOutcome>;
  /** Lets go of the threads once none is at work. */
  close(): Promise<void>;
}

/** What a thread is given. */
export interface ThreadTask {
  readonly job: Job;
  readonly folder: string;
  /** What DuckDB may use in it. */
  readonly limits: ThreadLimits;
  /** Variables for this job alone: the key of the provider that it asks. */
  readonly variables: Readonly<Record<string, string>>;
  /** Brings {@link ThreadMessage}s; what comes the other way asks to stop. */
  readonly port: MessagePort;
}

/** What a thread tells while it works. */
export type ThreadMessage = { readonly type: 'started' } | ({ readonly type: 'progress' } & ProgressEvent);

/** A fault of ours, for the log. */
export interface InternalFault {
  readonly message: string;
  readonly stack: string | undefined;
}

/** What a thread answers: an error is no class any more on its way to another. */
export type ThreadAnswer =
  | { readonly ok: true; readonly outcome: JobOutcome }
  | { readonly ok: false; readonly problem: ProblemJson }
  | { readonly ok: false; readonly internal: InternalFault };
