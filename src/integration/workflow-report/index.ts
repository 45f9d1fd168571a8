export {
  workflowToJson,
  type WorkflowJson,
  type WorkflowMetricsJson,
  type WorkflowValidationJson,
} from './workflow-to-json.ts';
export { type WorkflowHtmlOptions, workflowToHtml, workflowToMarkdown } from './render-workflow.ts';
export { type MarkdownReportOptions, type ReportedFindings, toMarkdownReport } from './to-markdown-report.ts';
