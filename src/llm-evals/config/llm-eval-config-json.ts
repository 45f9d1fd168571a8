import { escapeControls } from '../../io/config-text/config-fault.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { describePairs, planCounterfactual } from '../plan/counterfactual/index.ts';

/**
 * Converts the configuration of an evaluation to plain data with the keys of a file, always in the same order.
 * `parseLlmEvalConfig` reads it back.
 * @example
 * ```ts
 * import { llmEvalConfigToJson, parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({ promptTemplates: { raise: 'How do I ask for a raise?' }, maxCostUsd: 2 });
 * console.log(llmEvalConfigToJson(config)['max_cost_usd']);
 * // 2
 * ```
 */
export function llmEvalConfigToJson(config: LLMEvalConfig): Record<string, unknown> {
  const { counterfactual, prices } = config;
  const record = {
    provider: config.provider,
    model: config.model,
    base_url: config.baseUrl,
    system_prompt: config.systemPrompt,
    evaluators: config.evaluators,
    prompt_templates: config.promptTemplates,
    counterfactual: counterfactual && counterfactualToJson(counterfactual),
    cache_dir: config.cacheDir,
    replay_only: config.replayOnly,
    replay_path: config.replayPath,
    max_requests_per_run: config.maxRequestsPerRun,
    max_tokens_per_run: config.maxTokensPerRun,
    max_cost_usd: config.maxCostUsd,
    max_minutes: config.maxMinutes,
    concurrency: config.concurrency,
    timeout_ms: config.timeoutMillis,
    repeats: config.repeats,
    params: config.params,
    bbq_path: config.bbqPath,
    bbq_formats: config.bbqFormats,
    prices: Object.fromEntries(
      Object.entries(prices).map(([model, { input, output, asOf }]) => [model, { input, output, as_of: asOf }]),
    ),
    allow_small_samples: config.allowSmallSamples,
  };
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

function counterfactualToJson({
  template,
  dimensions,
  defaults,
  namePools,
  controlDimension,
}: NonNullable<LLMEvalConfig['counterfactual']>): Record<string, unknown> {
  return {
    ...(template.length === 0 ? {} : { template }),
    dimensions,
    defaults,
    name_pools: namePools,
    ...(controlDimension === undefined ? {} : { control_dimension: controlDimension }),
  };
}

/** Describes a configuration, with a line for each part. */
export function describeLlmEvalConfig(config: LLMEvalConfig): string[] {
  const plan = planCounterfactual(config);
  const distinct = new Set(plan.map(({ prompt }) => prompt)).size;
  return [
    `Model: ${config.model} (${config.provider})${config.baseUrl === null ? '' : ` at ${config.baseUrl}`}.`,
    `Scores: ${config.evaluators.join(', ')}.`,
    ...describePairs(plan).map((line) => `Compares: ${line}.`),
    `Prompts of templates: ${String(distinct)}, each asked ${config.repeats === 1 ? 'once, so that there is no noise floor' : `${String(config.repeats)} times`}.`,
    ...(config.bbqPath === null ? [] : [`BBQ: ${config.bbqPath} as ${config.bbqFormats.join(', ')}.`]),
    `Limits: ${limitsOf(config)}.`,
  ].map(escapeControls);
}

function limitsOf(config: LLMEvalConfig): string {
  const limits = [
    [config.maxRequestsPerRun, 'requests'],
    [config.maxTokensPerRun, 'tokens'],
    [config.maxCostUsd, 'US dollars'],
    [config.maxMinutes, 'minutes'],
  ] as const;
  const set = limits.flatMap(([most, unit]) => (most === null ? [] : [`${String(most)} ${unit}`]));
  return set.length === 0 ? 'none' : set.join(', ');
}
