import { documentToHtml, type DrawChart } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { WorkflowFindings } from '../workflow-result.ts';
import { workflowDocument } from './workflow-document.ts';

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
 * Renders the findings of a workflow as a self-contained HTML page. It has the content of `workflowToMarkdown` and
 * charts: the rates of each group before and after with intervals, accuracy against unfairness, and the reliability of
 * scores. The page loads no external resource, and the same findings give the same bytes.
 *
 * If echarts is not installed, the page has tables only and a note that says so.
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
 * Renders the findings of a workflow as a Markdown report: the verdict first, then the table of baseline, final and
 * change, each step, and the groups of each attribute before and after.
 *
 * The report contains no time, so the same findings give the same bytes. Of very many groups it lists both ends and
 * counts the rest. An undefined metric is shown in words, with its reason.
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
