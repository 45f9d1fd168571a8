import { snakeFields, toSnakeCase } from '../../internal/arguments.ts';
import { escapeControls } from '../../io/config-text/config-problem.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { describePairs, planCounterfactual } from '../plan/counterfactual/index.ts';

/**
 * Converts the configuration of an evaluation to plain data. The data have the keys of a configuration file, always in
 * the same order. `parseLlmEvalConfig` accepts the result.
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
  const { counterfactual, embedding, prices } = config;
  const record = {
    ...config,
    counterfactual: counterfactual && counterfactualToJson(counterfactual),
    embedding: embedding && snakeFields(embedding),
    prices: Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, snakeFields(price)])),
  };
  const given = Object.entries(record).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name === 'timeoutMillis' ? 'timeout_ms' : toSnakeCase(name), value]),
  );
}

function counterfactualToJson(section: NonNullable<LLMEvalConfig['counterfactual']>): Record<string, unknown> {
  const { template, dimensions, defaults, namePools, controlDimension } = section;
  return {
    ...(template.length === 0 ? {} : { template }),
    ...snakeFields({ dimensions, defaults, namePools }),
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
    ...Object.entries(config.benchmarks ?? {}).map(([name, { path }]) => `Benchmark ${name}: ${path.join(', ')}.`),
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
