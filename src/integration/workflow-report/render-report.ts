import { documentToHtml, type DrawChart } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { labelText } from '../../document/report-text.ts';
import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { escapeMarkdown, inWords, markdownTable } from '../../metrics/metric-markdown.ts';
import { type MetricResultFields, metricToMarkdown } from '../../metrics/metric-result.ts';
import type { FileValidation } from '../validate-file.ts';
import { validationDocument } from '../validation-document.ts';
import type { WorkflowFindings } from '../workflow-result.ts';
import { rangeText, tableNumber } from '../../internal/format.ts';
import { isMapping } from '../../internal/values.ts';
import { workflowDocument } from './workflow-document.ts';

/** The results that {@link toMarkdownReport} can report. */
export type ReportedFindings =
  MetricResultFields | Readonly<Record<string, MetricResultFields>> | FileValidation | WorkflowFindings;

/** Options of {@link toMarkdownReport}. */
export interface MarkdownReportOptions {
  /**
   * The title of the report.
   * @defaultValue the kind of findings
   */
  readonly title?: string | undefined;
  /**
   * The name of the data, for the line under the title.
   * @defaultValue no line
   */
  readonly source?: string | undefined;
}

const MARKDOWN_REPORT_OPTION_NAMES: OptionNames<MarkdownReportOptions> = { title: true, source: true };

/**
 * Renders findings as a Markdown report. The report of metrics shows values, intervals, groups and exclusions. For a
 * validated file it also shows the verdict; for a workflow, the baseline, the final model and the change. Labels and
 * names from data are escaped. An undefined metric is shown in words, with its reason.
 * @param findings a metric, metrics by name, or the result of `validateFile` or `executeWorkflow`
 * @throws {ValueError} if the findings are of another kind
 * @example
 * ```ts
 * import { demographicParityDifference } from 'evenhand/metrics';
 * import { toMarkdownReport } from 'evenhand/integration';
 *
 * const result = demographicParityDifference([1, 0, 1, 1], ['a', 'a', 'b', 'b'], { minGroupSize: 2, withCi: false });
 * const [title, , source, , metric, , value] = toMarkdownReport(result, { source: 'four decisions' }).split('\n');
 * console.log([title, source, metric, value].join('\n'));
 * // # Fairness report
 * // Source: four decisions
 * // ### Demographic parity difference
 * // **0.5000**, risk ratio 2.00
 * ```
 */
export function toMarkdownReport(findings: ReportedFindings, options: MarkdownReportOptions = {}): string {
  assertKnownOptions('toMarkdownReport', options, MARKDOWN_REPORT_OPTION_NAMES);
  if (isWorkflow(findings)) return workflowReport(findings, options);
  if (isValidation(findings)) return validationReport(findings, options);
  const results = isMetric(findings) ? [findings] : metricsOf(findings);
  return [
    ...opening(options.title ?? 'Fairness report', options.source),
    ...(results.length < 2 ? [] : [overview(results)]),
    ...results.map(metricToMarkdown),
    'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ.',
  ]
    .join('\n\n')
    .concat('\n');
}

function workflowReport(findings: WorkflowFindings, { title, source }: MarkdownReportOptions): string {
  const found = workflowDocument(findings);
  const subject = source === undefined ? found.subject : `${source}: ${found.subject}`;
  return documentToMarkdown({ ...found, title: title ?? found.title, subject });
}

/** Returns the report of a validation with the given title and source. */
function validationReport(validation: FileValidation, { title, source }: MarkdownReportOptions): string {
  const found = validationDocument(validation, { source });
  return documentToMarkdown({ ...found, title: title ?? found.title });
}

function opening(title: string, source: string | undefined): string[] {
  return [`# ${escapeMarkdown(title)}`, ...(source === undefined ? [] : [`Source: ${escapeMarkdown(source)}`])];
}

/** Returns the table of all values. */
function overview(results: readonly MetricResultFields[]): string {
  return markdownTable(
    ['Metric', 'Value', 'Interval', 'Groups excluded'],
    results.map(({ metric, value, ci, excluded, undefinedReason }) => [
      escapeMarkdown(inWords(metric)),
      undefinedReason === null ? tableNumber(value) : 'undefined',
      ci === null ? 'none' : rangeText(ci),
      String(Object.keys(excluded).length),
    ]),
  );
}

function metricsOf(findings: unknown): MetricResultFields[] {
  const entries = typeof findings === 'object' && findings !== null ? Object.entries(findings) : [];
  const odd = entries.find(([, value]) => !isMetric(value));
  if (entries.length > 0 && odd === undefined) return entries.map(([, value]) => value as MetricResultFields);
  const got = odd === undefined ? 'nothing' : `something else under '${labelText(odd[0])}'`;
  throw new ValueError(
    `The findings parameter must be a metric, metrics by name, a validation or a workflow. Got ${got} instead.`,
    {
      context: { parameter: 'findings' },
      suggestion: 'Pass a MetricResult, an object of them, or the result of validateFile or executeWorkflow.',
    },
  );
}

function isMetric(value: unknown): value is MetricResultFields {
  return isMapping(value) && typeof value['metric'] === 'string' && isMapping(value['perGroup']);
}

function isValidation(value: unknown): value is FileValidation {
  return isMapping(value) && isMapping(value['attributes']) && isMapping(value['verdicts']);
}

function isWorkflow(value: unknown): value is WorkflowFindings {
  return isMapping(value) && isMapping(value['validation']) && isMapping(value['baselineMetrics']);
}

/** Options of {@link workflowToHtml}. */
export interface WorkflowHtmlOptions {
  /**
   * Draws a chart as SVG.
   * @defaultValue ECharts, on the host
   */
  readonly draw?: DrawChart | undefined;
}

const WORKFLOW_HTML_OPTION_NAMES: OptionNames<WorkflowHtmlOptions> = { draw: true };

/**
 * Renders the findings of a workflow as a self-contained HTML page. The page has the content of `workflowToMarkdown`
 * and charts. The charts show the rates of each group before and after, accuracy against unfairness, and the
 * reliability of scores. The page loads no external resource, and the same findings give the same bytes.
 *
 * If echarts is not installed, the page has a note about the missing package, and tables instead of charts.
 * @example
 * ```ts
 * import { executeWorkflow, sampleData } from 'evenhand';
 * import { workflowToHtml } from 'evenhand/integration';
 *
 * const result = await executeWorkflow(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     pipeline: [{ name: 'reweigh', transformer: 'ReweighingTransformer' }],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median' },
 *     validationThreshold: 0.3,
 *   },
 *   sampleData('cps-wages'),
 * );
 * const html = await workflowToHtml(result);
 * console.log(html.startsWith('<!doctype html>'), html.includes('<svg role="img"'));
 * // true true
 * ```
 */
export async function workflowToHtml(findings: WorkflowFindings, options: WorkflowHtmlOptions = {}): Promise<string> {
  assertKnownOptions('workflowToHtml', options, WORKFLOW_HTML_OPTION_NAMES);
  return documentToHtml(workflowDocument(findings), options.draw);
}

/**
 * Renders the findings of a workflow as a Markdown report. The verdict comes first. Then the report compares the
 * baseline and the final model, describes each step, and lists the groups of each attribute before and after.
 *
 * The report contains no time, so the same findings give the same bytes. If there are very many groups, it lists the
 * groups with the lowest and the highest values, and the number of other groups. An undefined metric is shown in words,
 * with its reason.
 * @example
 * ```ts
 * import { executeWorkflow, sampleData } from 'evenhand';
 * import { workflowToMarkdown } from 'evenhand/integration';
 *
 * const result = await executeWorkflow(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     pipeline: [{ name: 'reweigh', transformer: 'ReweighingTransformer' }],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median' },
 *     validationThreshold: 0.3,
 *   },
 *   sampleData('cps-wages'),
 * );
 * const [title, , subject, , verdict] = workflowToMarkdown(result).split('\n');
 * console.log(title);
 * // # Fairness workflow
 * console.log(subject);
 * // wage\_above\_median by gender; 427 training rows, 107 held-out rows
 * console.log(verdict);
 * // **PASS at threshold 0.3**
 * ```
 */
export function workflowToMarkdown(findings: WorkflowFindings): string {
  return documentToMarkdown(workflowDocument(findings));
}
