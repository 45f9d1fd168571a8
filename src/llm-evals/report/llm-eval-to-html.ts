import { documentToHtml, type DrawChart } from '../../document/document-to-html.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../run/llm-targets-result.ts';
import { llmEvalDocument } from './llm-eval-report.ts';
import { LLM_EVAL_REPORT_OPTION_NAMES, type LlmEvalReportOptions } from './report-words.ts';

/** Options of {@link llmEvalToHtml}. */
export interface LlmEvalHtmlOptions extends LlmEvalReportOptions {
  /**
   * Draws a chart as an SVG image.
   * @defaultValue a function that draws charts with ECharts
   */
  readonly draw?: DrawChart | undefined;
}

const LLM_EVAL_HTML_OPTION_NAMES: OptionNames<LlmEvalHtmlOptions> = { ...LLM_EVAL_REPORT_OPTION_NAMES, draw: true };

/**
 * Renders an evaluation as a self-contained HTML page. The page has the content of `llmEvalToMarkdown`, with charts of
 * the gaps and pairs of answers side by side. The page loads no other resources and runs no scripts. The model's
 * answers are escaped.
 *
 * If echarts is not installed, the page has tables instead of charts, and a note states this.
 */
export async function llmEvalToHtml(
  result: LlmEvalResult | LlmTargetsResult,
  options: LlmEvalHtmlOptions = {},
): Promise<string> {
  assertKnownOptions('llmEvalToHtml', options, LLM_EVAL_HTML_OPTION_NAMES);
  const { draw, ...reportOptions } = options;
  return documentToHtml(llmEvalDocument(result, reportOptions), draw);
}
