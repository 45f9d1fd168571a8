import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import type { WorkflowFindings } from '../workflow/workflow-result.ts';
import { workflowDocument } from './workflow-document.ts';

/**
 * What a workflow found as a Markdown report: the verdict first, then the table
 * of baseline, final and change, each step, and the groups of each attribute
 * before and after. No time stands in it, so that the same findings give the
 * same bytes. Of very many groups those at both ends are listed, with a count
 * of the rest; an undefined metric stands there in words, with its reason.
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
 * // wage\_above\_median by gender; 427 rows trained on, 107 held out
 * console.log(verdict);
 * // **PASS at threshold 0.3**
 * ```
 */
export function workflowToMarkdown(findings: WorkflowFindings): string {
  return documentToMarkdown(workflowDocument(findings));
}
