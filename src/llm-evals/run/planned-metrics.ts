import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import { createEvaluators, planPrompts } from '../evaluators/create-evaluators.ts';
import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import { scoreSettings } from '../scoring/score-settings.ts';
import type { PlanOptions } from './run-options.ts';
import { joinTranscripts, scoreRun } from './score-run.ts';

/**
 * The metrics that a run will have, by name and without values: so that a name
 * can be checked before answers are paid for.
 */
export async function plannedMetrics(
  config: LLMEvalConfig,
  { evaluators: own }: Pick<PlanOptions, 'evaluators'> = {},
): Promise<Readonly<Record<string, LlmMetricResult>>> {
  const evaluators = createEvaluators(config.evaluators, own);
  const prompts = planPrompts(evaluators, config).map((prompt) => ({ ...prompt, key: '' }));
  return scoreRun({ evaluators }, joinTranscripts(prompts, new Map(), ''), scoreSettings());
}
