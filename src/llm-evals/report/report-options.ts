import type { OptionNames } from '../../internal/known-options.ts';
import type { LlmEvalVerdict } from './llm-eval-verdict.ts';

/** Options of the reports of an evaluation. */
export interface LlmEvalReportOptions {
  /**
   * What the gate found: see `judgeLlmEval` of `evenhand/integration`.
   * @defaultValue no threshold, no verdict
   */
  readonly verdict?: LlmEvalVerdict | undefined;
}

/** Lists the options of {@link LlmEvalReportOptions}. */
export const LLM_EVAL_REPORT_OPTION_NAMES: OptionNames<LlmEvalReportOptions> = { verdict: true };
