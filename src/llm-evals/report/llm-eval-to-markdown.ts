import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../run/llm-targets-result.ts';
import { llmEvalDocument } from './llm-eval-report.ts';
import { LLM_EVAL_REPORT_OPTION_NAMES, type LlmEvalReportOptions } from './report-words.ts';

/**
 * Renders an evaluation as a Markdown report: the verdict, the findings and their significance, each dimension,
 * excluded answers, pairs of answers side by side, spending, the configuration and the limits. The model's answers are
 * inside code fences, so that no markup, link or image in them takes effect.
 */
export function llmEvalToMarkdown(
  result: LlmEvalResult | LlmTargetsResult,
  options: LlmEvalReportOptions = {},
): string {
  assertKnownOptions('llmEvalToMarkdown', options, LLM_EVAL_REPORT_OPTION_NAMES);
  return documentToMarkdown(llmEvalDocument(result, options));
}
