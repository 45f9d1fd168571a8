import type { ReportDocument } from '../../document/report-document.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { hasTargets, type LlmTargetsResult } from '../run/llm-targets-result.ts';
import { evaluationDocument } from './llm-eval-document.ts';
import { LLM_EVAL_REPORT_OPTION_NAMES, type LlmEvalReportOptions, NO_VERDICT } from './report-words.ts';
import { targetsDocument } from './targets-document.ts';

/**
 * Builds the report document of an evaluation: the verdict, the findings and their significance, each dimension,
 * excluded answers, answers side by side, spending, the configuration of the run, and the limits of the method. For
 * several targets, it starts with what differs between them, and contains the findings of each.
 */
export function llmEvalDocument(
  result: LlmEvalResult | LlmTargetsResult,
  options: LlmEvalReportOptions = {},
): ReportDocument {
  assertKnownOptions('llmEvalDocument', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const { verdict = NO_VERDICT } = options;
  return hasTargets(result) ? targetsDocument(result, verdict) : evaluationDocument(result, verdict);
}
