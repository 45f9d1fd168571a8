export {
  workflowToJson,
  type WorkflowJson,
  type WorkflowMetricsJson,
  type WorkflowValidationJson,
} from './workflow-to-json.ts';
export { workflowToMarkdown } from './workflow-to-markdown.ts';
export { workflowToHtml, type WorkflowHtmlOptions } from './workflow-to-html.ts';
export { type MarkdownReportOptions, type ReportedFindings, toMarkdownReport } from './to-markdown-report.ts';
