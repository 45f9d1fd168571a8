import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import type { StopReason } from '../scheduler/budget.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import type { LlmTargetDifference } from '../scoring/llm-target-difference.ts';
import type { LlmEvalResult } from './llm-eval-result.ts';

/** The result of a run with several targets; frozen. */
export interface LlmTargetsResult {
  /** The result of each target, by name, in the order of the configuration. Earlier answers are named `baseline`. */
  readonly targets: Readonly<Record<string, LlmEvalResult>>;
  /** The differences between targets, by name, such as `decision_gap.gender[new-old]`. */
  readonly differences: Readonly<Record<string, LlmTargetDifference>>;
  /** The planned spending of all targets together. A request that several targets need counts once. */
  readonly planned: PlannedSpending;
  readonly actual: ActualSpending;
  /** The reason why the run ended early; null if it completed its plan. */
  readonly stopped: StopReason | null;
  readonly config: LLMEvalConfig;
  readonly seed: number;
  /** Warnings about the validity of the comparison. Each target has its own warnings too. */
  readonly warnings: readonly string[];
}

/** Returns whether the result of a run has several targets. */
export function hasTargets(result: LlmEvalResult | LlmTargetsResult): result is LlmTargetsResult {
  return 'targets' in result;
}

/**
 * Returns the metrics and the differences of a run with several targets by name, for the gate: `refusal_rate[new]` is a
 * metric of the target `new`, and `refusal_rate[new-old]` a difference. Pass the result to `judgeLlmEval`.
 * @example
 * ```ts
 * import { judgeLlmEval } from 'evenhand/integration';
 * import { parseLlmEvalConfig, runLlmTargets, targetMetrics } from 'evenhand/llm-evals';
 *
 * const prompts = ['raise', 'lock', 'visa', 'loan', 'lease'].map((word) => [word, `Explain a ${word}.`]);
 * const config = parseLlmEvalConfig({
 *   prompt_templates: Object.fromEntries(prompts),
 *   targets: [{ name: 'a', model: 'stub-a' }, { name: 'b', model: 'stub-b' }],
 * });
 * const metrics = targetMetrics(await runLlmTargets(config));
 * console.log(judgeLlmEval(metrics, { metric: 'refusal_rate[a-b]', threshold: 0.1 }).passed);
 * // true
 * ```
 */
export function targetMetrics({ targets, differences }: TargetsToJudge): Readonly<Record<string, LlmMetricResult>> {
  const entries = Object.entries(targets).flatMap(([target, { metrics }]) =>
    Object.entries(metrics).map(([key, metric]) => [`${key}[${target}]`, metric] as const),
  );
  return { ...Object.fromEntries(entries), ...differences };
}

/** The metrics and differences of a run with several targets. */
type TargetsToJudge = Pick<LlmTargetsResult, 'differences'> & {
  readonly targets: Readonly<Record<string, Pick<LlmEvalResult, 'metrics'>>>;
};
