import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import { createEvaluators, planPrompts } from '../evaluators/create-evaluators.ts';
import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import { scoreSettings } from '../scoring/score-settings.ts';
import type { PlanOptions } from './run-options.ts';
import { joinTranscripts, scoreRun } from './score-run.ts';

type PlannedMetricsOptions = Pick<PlanOptions, 'evaluators'>;

const PLANNED_METRICS_OPTION_NAMES: OptionNames<PlannedMetricsOptions> = { evaluators: true };

/**
 * The metrics that a run will have, by name and without values: so that a name
 * can be checked before answers are paid for.
 */
export async function plannedMetrics(
  config: LLMEvalConfig,
  options: PlannedMetricsOptions = {},
): Promise<Readonly<Record<string, LlmMetricResult>>> {
  assertKnownOptions('plannedMetrics', options, PLANNED_METRICS_OPTION_NAMES);
  const evaluators = createEvaluators(config.evaluators, options.evaluators);
  const prompts = planPrompts(evaluators, config).map((prompt) => ({ ...prompt, key: '' }));
  return scoreRun({ evaluators }, joinTranscripts(prompts, new Map(), ''), scoreSettings());
}
