import path from 'node:path';

import { paretoChart } from '../../charts/pareto-chart.ts';
import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import {
  noteBlocks,
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
import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import type { ParetoSweep } from '../../training/pareto/pareto-sweep.ts';
import type { MeasuredCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import { workflowDocument } from '../workflow-report/workflow-document.ts';
import { calibrationDocument } from './calibration-document.ts';
import { jobDocument } from './job-document.ts';
import { capital, tableCount, rangeText, tableNumber, tableValue } from '../../internal/format.ts';
import type { WorkflowFindings } from '../workflow-result.ts';

/** The training results that can be reported. */
export type ReportedTraining = ParetoSweep | TrainingJobResult | MeasuredCalibration | WorkflowFindings;

/** Builds the report of a sweep over penalty weights. The report lists every point with its intervals. */
function sweepDocument(sweep: ParetoSweep): ReportDocument {
  return {
    title: 'Training sweep',
    subject: subjectOf(sweep),
    sections: [
      {
        title: 'Accuracy against the gap',
        blocks: [...pictureOf(sweep), pointsTable(sweep), ...noteBlocks('Warnings', sweep.warnings.map(capital))],
      },
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
  const subtitle = `Penalty ${sweep.penalty}; crosses are 95% intervals; labels are the weight of the penalty (eta)`;
  return [{ kind: 'picture', chart: () => paretoChart(drawable, { subtitle }) }];
}

function pointsTable(sweep: ParetoSweep): ReportTable {
  return {
    kind: 'table',
    caption: 'Points of the sweep, on rows that the network was not trained on',
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
    `During training, the penalty (${sweep.penalty}) applies to the gap between the scores of groups. A larger eta gives the penalty more weight. It does not bound the gap in decisions.`,
    ...(ends === undefined
      ? []
      : [
          `Over the sweep, accuracy goes from ${share(ends.most)} (eta ${String(ends.most.eta)}) to ${share(ends.least)} (eta ${String(ends.least.eta)}) among the points that are not dominated: a smaller gap costs up to this difference.`,
        ]),
    `${String(undominated)} of ${String(sweep.length)} points are not dominated: no other point is at least as good in accuracy and in the gap, and better in one of the two.`,
    'Equalized odds is shown but was not used to find the dominated points: a point that closes one gap can open another.',
  ];
}

/** Returns two of the undominated points: the most accurate one and the least accurate one. */
function endsOf(sweep: ParetoSweep): { readonly most: ParetoPoint; readonly least: ParetoPoint } | undefined {
  const sorted = sweep.filter(({ dominated }) => !dominated).sort((a, b) => b.accuracy - a.accuracy);
  const [most, min] = [sorted[0], sorted.at(-1)];
  return most === undefined || min === undefined || most === min ? undefined : { most, least: min };
}

function share({ accuracy }: ParetoPoint): string {
  return tableValue(accuracy, 'share');
}

const READING: readonly string[] = [
  'Better is up and to the left: higher accuracy and a smaller gap. The order of points whose crosses overlap may be due to chance.',
  'A point chosen as the best on these rows is measured too optimistically on them. Choose on one set of rows, and measure the chosen point on another.',
  'The hypervolume is the area that the points dominate, relative to always predicting the larger class. Larger is better. Compare it only between sweeps on the same rows.',
];

function madeOf(sweep: ParetoSweep): [name: string, value: string][] {
  return [
    ['evenhand', VERSION],
    ['Seed', String(sweep.seed)],
    ['Backend', sweep.backend],
    ['Penalty', sweep.penalty],
    ['Hypervolume', tableNumber(sweep.hypervolume)],
    ['Folds', sweep.folds === null ? 'none' : String(sweep.folds)],
    ['Training rows', tableCount(sweep.nTrain)],
    ['Measured rows', tableCount(sweep.nTest)],
    ['Excluded rows', `${tableCount(sweep.nDropped)} (target or group missing)`],
  ];
}

/** The formats of a report. */
export const TRAINING_REPORT_FORMATS = ['markdown', 'html'] as const;

/** One of {@link TRAINING_REPORT_FORMATS}. */
export type TrainingReportFormat = (typeof TRAINING_REPORT_FORMATS)[number];

/** Options of {@link generateTrainingFairnessReport}. */
export interface TrainingReportOptions {
  /**
   * The format. An HTML page is self-contained and has charts.
   * @defaultValue from the extension of `savePath`, else 'markdown'
   */
  readonly format?: TrainingReportFormat | undefined;
  /**
   * The path of a .md or .html file to which the report is also written. If writing fails, no partial file remains.
   * @defaultValue none
   */
  readonly savePath?: string | undefined;
  /**
   * The title of the report.
   * @defaultValue the kind of training
   */
  readonly title?: string | undefined;
}

const TRAINING_REPORT_OPTION_NAMES: OptionNames<TrainingReportOptions> = { format: true, savePath: true, title: true };

const FORMAT_OF: Readonly<Record<string, TrainingReportFormat>> = {
  '.md': 'markdown',
  '.html': 'html',
};

/**
 * Generates a report of a training: what was constrained, the gaps with intervals, and the cost.
 *
 * The content depends on the result:
 * - a sweep: its points
 * - `trainReductions` or `trainLagrangian`: the models with and without the constraint, by group, on training rows and
 *   held-out rows, and the course of the training
 * - `calibrateTable`: the errors before and after
 * - a workflow: its complete report
 *
 * The report describes undefined values in words. The same result gives the same bytes.
 * @param result the return value of `sweepPareto`, `trainReductions`, `trainLagrangian`, `calibrateTable` or
 *   `executeWorkflow`
 * @returns the text of the report
 * @throws {ValueError} if the result is of another kind, the format is unknown, or savePath does not end in .md or
 *   .html or does not match the format
 * @throws {DataValidationError} if the path cannot be written
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
 * // wage\_above\_median by gender; 427 training rows, 107 held-out rows
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
    suggestion: 'Omit format: the extension determines it.',
  });
}

/** The report of each kind of result, and the keys that identify the kind. */
const KINDS: readonly { readonly keys: readonly string[]; readonly report: (result: never) => ReportDocument }[] = [
  { keys: ['validation', 'baselineMetrics', 'finalMetrics'], report: workflowDocument },
  { keys: ['length', 'hypervolume', 'penalty'], report: sweepDocument },
  { keys: ['baseline', 'final', 'train', 'constraint'], report: jobDocument },
  { keys: ['before', 'after', 'curves', 'calibrator'], report: calibrationDocument },
];

function documentOf(result: unknown): ReportDocument {
  const found = KINDS.find(
    ({ keys }) => typeof result === 'object' && result !== null && keys.every((key) => key in result),
  );
  if (found !== undefined) return found.report(result as never);
  throw new ValueError('The result parameter must be the result of a training function.', {
    context: { parameter: 'result' },
    suggestion: 'Pass what sweepPareto, trainReductions, trainLagrangian, calibrateTable or executeWorkflow returned.',
  });
}
