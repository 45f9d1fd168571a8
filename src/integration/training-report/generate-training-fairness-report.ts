import path from 'node:path';

import { paretoChart } from '../../charts/pareto-chart.ts';
import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
} from '../../document/report-document.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { ParetoPoint } from '../../training/pareto/pareto-points.ts';
import type { ParetoSweep } from '../../training/pareto/pareto-sweep.ts';
import { tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import { rangeText } from '../workflow-report/verdict-words.ts';
import { workflowDocument } from '../workflow-report/workflow-document.ts';
import { calibrationDocument } from './calibration-document.ts';
import { jobDocument } from './job-document.ts';
import {
  isCalibration,
  isSweep,
  isTrainingJob,
  isWorkflow,
  type ReportedTraining,
  warningNotes,
} from './training-kinds.ts';

/** A sweep over the weight of a penalty: every point with its intervals, and what may be read from them. */
function sweepDocument(sweep: ParetoSweep): ReportDocument {
  return {
    title: 'Training sweep',
    subject: subjectOf(sweep),
    sections: [
      { title: 'Accuracy against the gap', blocks: [...pictureOf(sweep), pointsTable(sweep), ...warningNotes(sweep)] },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(sweep) }] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: READING }] },
    ],
    made: madeOf(sweep),
  };
}

function subjectOf({ target, positiveLabel, sensitive, nTest, folds }: ParetoSweep): string {
  const outcome = positiveLabel === null ? labelText(target) : `${labelText(target)} = ${labelText(positiveLabel)}`;
  const how = folds === null ? 'held out' : `cross-fitted in ${String(folds)} folds`;
  return `${outcome} by ${listed(sensitive)}; ${tableCount(nTest)} rows ${how}`;
}

function pictureOf(sweep: ParetoSweep): ReportBlock[] {
  const drawable = sweep.filter(({ dpDiff }) => Number.isFinite(dpDiff));
  if (drawable.length === 0) return [];
  const subtitle = `Penalty ${sweep.penalty}; crosses are 95% intervals; labels are the penalty's weight`;
  return [{ kind: 'picture', chart: () => paretoChart(drawable, { subtitle }) }];
}

function pointsTable(sweep: ParetoSweep): ReportTable {
  return {
    kind: 'table',
    caption: 'Points of the sweep, on rows that no network was trained on',
    columns: [
      { name: 'Eta' },
      numberColumn('Accuracy'),
      numberColumn('95% interval'),
      numberColumn('Demographic parity difference'),
      numberColumn('95% interval'),
      numberColumn('Equalized odds difference'),
      numberColumn('Loss'),
      { name: 'Dominated' },
    ],
    rows: sweep.map((point) => [
      String(point.eta),
      tableValue(point.accuracy, 'share'),
      rangeText(point.accuracyCi, (end) => tableValue(end, 'share')),
      tableNumber(point.dpDiff),
      point.dpDiffCi === null ? 'none' : rangeText(point.dpDiffCi),
      tableNumber(point.eoDiff),
      tableNumber(point.loss),
      point.dominated ? 'yes' : 'no',
    ]),
  };
}

function priceOf(sweep: ParetoSweep): string[] {
  const ends = endsOf(sweep);
  const undominated = sweep.filter(({ dominated }) => !dominated).length;
  return [
    `The penalty (${sweep.penalty}) presses on the gap between the scores of groups while training; a larger eta presses harder. It sets no bound on the gap of decisions.`,
    ...(ends === undefined
      ? []
      : [
          `Over the sweep accuracy goes from ${share(ends.most)} (eta ${String(ends.most.eta)}) to ${share(ends.least)} (eta ${String(ends.least.eta)}): what a smaller gap costs lies between.`,
        ]),
    `${String(undominated)} of ${String(sweep.length)} points are not dominated: no other point is at least as accurate and as even, and better in one of the two.`,
    'Equalized odds are shown and were not chosen for: a point that closes one gap can open another.',
  ];
}

/** The most and the least accurate of the points that are not dominated. */
function endsOf(sweep: ParetoSweep): { readonly most: ParetoPoint; readonly least: ParetoPoint } | undefined {
  const sorted = sweep.filter(({ dominated }) => !dominated).sort((a, b) => b.accuracy - a.accuracy);
  const [most, least] = [sorted[0], sorted.at(-1)];
  return most === undefined || least === undefined || most === least ? undefined : { most, least };
}

function share({ accuracy }: ParetoPoint): string {
  return tableValue(accuracy, 'share');
}

const READING: readonly string[] = [
  'Better is up and to the left: more accurate, and more even. Points whose crosses overlap much may have their places by chance.',
  'A point chosen because it looks best on these rows looks better than it is. Choose on one set of rows, and measure the choice on another.',
  'The hypervolume is the area that the points dominate above always deciding for the larger class: larger is better, and only sweeps of the same rows compare.',
];

function madeOf(sweep: ParetoSweep): [name: string, value: string][] {
  return [
    ['evenhand', VERSION],
    ['Seed', String(sweep.seed)],
    ['Backend', sweep.backend],
    ['Penalty', sweep.penalty],
    ['Hypervolume', tableNumber(sweep.hypervolume)],
    ['Folds', sweep.folds === null ? 'none' : String(sweep.folds)],
    ['Rows trained on', tableCount(sweep.nTrain)],
    ['Rows measured', tableCount(sweep.nTest)],
    ['Rows left out', `${tableCount(sweep.nDropped)} (target or group missing)`],
  ];
}

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
