import path from 'node:path';

import { ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { oneOf } from '../../internal/one-of.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import type { ReportDocument } from '../../document/report-document.ts';
import { workflowDocument } from '../workflow-report/workflow-document.ts';
import { calibrationDocument } from './calibration-document.ts';
import { jobDocument } from './job-document.ts';
import { sweepDocument } from './sweep-document.ts';
import { isCalibration, isSweep, isTrainingJob, isWorkflow, type ReportedTraining } from './training-kinds.ts';

/** The forms that a report can have. */
export const TRAINING_REPORT_FORMATS = ['markdown', 'html'] as const;

/** One of {@link TRAINING_REPORT_FORMATS}. */
export type TrainingReportFormat = (typeof TRAINING_REPORT_FORMATS)[number];

/** Options of {@link generateTrainingFairnessReport}. */
export interface TrainingReportOptions {
  /**
   * The form; an HTML page stands alone and has pictures.
   * @defaultValue as the extension of `savePath` says, else 'markdown'
   */
  readonly format?: TrainingReportFormat | undefined;
  /**
   * Where the report is written too, whole or not at all: a .md or .html file.
   * @defaultValue nowhere
   */
  readonly savePath?: string | undefined;
  /**
   * Above the report.
   * @defaultValue what kind of training it was
   */
  readonly title?: string | undefined;
}

const TRAINING_REPORT_OPTION_NAMES: OptionNames<TrainingReportOptions> = { format: true, savePath: true, title: true };

const FORMAT_OF: Readonly<Record<string, TrainingReportFormat>> = {
  '.md': 'markdown',
  '.html': 'html',
};

/**
 * A report of a training: what was constrained, what the gaps are with
 * intervals, and what that cost.
 *
 * Of a sweep the points; of a job of `trainReductions` or `trainLagrangian` the
 * model with the constraint and without it, group by group, on rows seen and
 * unseen, and how training went; of `calibrateTable` the errors before and
 * after; of a workflow its whole report. Undefined values stand there in words.
 * The same result gives the same bytes.
 * @param result what `sweepPareto`, `trainReductions`, `trainLagrangian`, `calibrateTable` or `executeWorkflow` gave
 * @returns the report's text
 * @throws {ValueError} for anything else, an unknown format, or a savePath that ends in neither .md nor .html or not as the format says
 * @throws {DataValidationError} where the path cannot be written
 * @example
 * ```ts
 * import { sampleData } from 'evenhand';
 * import { generateTrainingFairnessReport } from 'evenhand/integration';
 * import { trainReductions } from 'evenhand/training';
 *
 * const job = await trainReductions(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education', 'experience'] },
 *   { constraint: 'demographic_parity', eps: 0.01, backend: 'wasm' },
 * );
 * const report = await generateTrainingFairnessReport(job, { title: 'Wages' });
 * const [title, , subject] = report.split('\n');
 * console.log([title, subject].join('\n'));
 * // # Wages
 * // wage\_above\_median by gender; 427 rows trained on, 107 held out
 * ```
 */
export async function generateTrainingFairnessReport(
  result: ReportedTraining,
  options: TrainingReportOptions = {},
): Promise<string> {
  assertKnownOptions('generateTrainingFairnessReport', options, TRAINING_REPORT_OPTION_NAMES);
  const format = formatOf(options);
  const found = documentOf(result);
  const report = options.title === undefined ? found : { ...found, title: options.title };
  const text = format === 'html' ? await documentToHtml(report) : documentToMarkdown(report);
  if (options.savePath !== undefined) await writeFileAtomic(options.savePath, text);
  return text;
}

function formatOf({ format, savePath }: TrainingReportOptions): TrainingReportFormat {
  const given = format === undefined ? undefined : oneOf('format', format, TRAINING_REPORT_FORMATS);
  if (savePath === undefined) return given ?? 'markdown';
  const extension = path.extname(savePath).toLowerCase();
  const own = Object.hasOwn(FORMAT_OF, extension) ? FORMAT_OF[extension] : undefined;
  if (own === undefined) throw invalidParameter('savePath', 'end in .md or .html', savePath);
  if (given === undefined || given === own) return own;
  throw new ValueError(`The format parameter must agree with savePath. Got '${given}' for '${savePath}' instead.`, {
    context: { parameter: 'format', value: given, savePath },
    suggestion: 'Leave format out: the extension decides.',
  });
}

function documentOf(result: unknown): ReportDocument {
  if (isWorkflow(result)) return workflowDocument(result);
  if (isSweep(result)) return sweepDocument(result);
  if (isTrainingJob(result)) return jobDocument(result);
  if (isCalibration(result)) return calibrationDocument(result);
  throw new ValueError('The result parameter must be what a training gave.', {
    context: { parameter: 'result' },
    suggestion: 'Give what sweepPareto, trainReductions, trainLagrangian, calibrateTable or executeWorkflow returned.',
  });
}
