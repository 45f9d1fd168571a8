import type { OnProgress } from '../../internal/progress.ts';
import type { ReportNames } from './report-names.ts';

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
