export { llmEvalDocument } from './llm-eval-report.ts';
export { type LlmEvalHtmlOptions, llmEvalToHtml } from './llm-eval-to-html.ts';
export { type LlmEvalJson, llmEvalToJson, type LlmTargetsJson } from './llm-eval-to-json.ts';
export { llmEvalGateReport, llmEvalToJunit } from './llm-eval-to-junit.ts';
export { llmEvalToMarkdown } from './llm-eval-to-markdown.ts';
export type { LlmEvalReportOptions, LlmEvalVerdict, LlmMetricVerdict } from './report-words.ts';
