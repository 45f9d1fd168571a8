import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { llmEvalDocument } from './llm-eval-document.ts';
import { LLM_EVAL_REPORT_OPTION_NAMES, type LlmEvalReportOptions } from './report-words.ts';

/**
 * An evaluation as a Markdown report: the verdict first, then what was found and whether it is told from noise, each
 * dimension, what took no part, pairs of answers side by side, spending, what was asked, and limits. Texts of the model
 * stand in fences: nothing in them is markup, a link or a picture.
 */
export function llmEvalToMarkdown(result: LlmEvalResult, options: LlmEvalReportOptions = {}): string {
  assertKnownOptions('llmEvalToMarkdown', options, LLM_EVAL_REPORT_OPTION_NAMES);
  return documentToMarkdown(llmEvalDocument(result, options));
}
