import { snakeFields, toSnakeCase } from '../../internal/arguments.ts';
import { withoutUndefined } from '../../internal/values.ts';
import { escapeControls } from '../../io/config-text/config-problem.ts';
import type { LLMEvalConfig, LlmTarget, OutcomeConfig, OutcomeSpec } from '../../schemas/llm-eval/llm-eval-document.ts';
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
  const { counterfactual, embedding, outcome, judge, prices, targets, http } = config;
  const record = {
    ...config,
    counterfactual: counterfactual && counterfactualToJson(counterfactual),
    embedding: embedding && snakeFields(embedding),
    http: http && httpToJson(http),
    outcome: Object.keys(outcome).length === 0 ? null : outcomeToJson(outcome),
    judge: judge && Object.fromEntries(Object.entries(snakeFields(judge)).filter(([, value]) => value !== null)),
    targets: targets && targets.map(targetToJson),
    prices: Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, snakeFields(price)])),
  };
  const given = Object.entries(record).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name === 'timeoutMillis' ? 'timeout_ms' : toSnakeCase(name), value]),
  );
}

function outcomeToJson(outcome: OutcomeConfig): Record<string, unknown> {
  const specToJson = ({ number, ...rest }: OutcomeSpec): Record<string, unknown> => ({
    ...snakeFields(rest),
    ...(number === undefined ? {} : { number: snakeFields(number) }),
  });
  return Object.fromEntries(Object.entries(outcome).map(([name, specs]) => [name, specs.map(specToJson)]));
}

function targetToJson({ http, ...target }: LlmTarget): Record<string, unknown> {
  return { ...snakeFields(target), ...(http === undefined ? {} : { http: httpToJson(http) }) };
}

/** The headers and the body keep their keys. */
function httpToJson({ headers, body, ...section }: NonNullable<LLMEvalConfig['http']>): Record<string, unknown> {
  const given = Object.entries(section).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given.map(([name, value]) => [toSnakeCase(name), value])), headers, body };
}

function counterfactualToJson(section: NonNullable<LLMEvalConfig['counterfactual']>): Record<string, unknown> {
  const { template, dimensions, defaults, namePools, nameSource, maxNames } = section;
  const { intersections, language, pronouns, controlDimension } = section;
  return {
    ...(template.length === 0 ? {} : { template }),
    ...snakeFields({ dimensions, defaults, ...(nameSource === undefined ? { namePools } : { nameSource }) }),
    ...snakeFields(withoutUndefined({ maxNames, intersections, language, pronouns, controlDimension })),
  };
}

/** Describes a configuration, with a line for each part. */
export function describeLlmEvalConfig(config: LLMEvalConfig): string[] {
  const plan = planCounterfactual(config);
  const distinct = new Set(plan.map(({ prompt }) => prompt)).size;
  return [
    `Model: ${config.model} (${config.provider})${addressWords(config)}.`,
    `Scores: ${config.evaluators.join(', ') || 'only declared outcomes'}.`,
    ...describePairs(plan).map((line) => `Compares: ${line}.`),
    ...(distinct === 0 && hasRows(config)
      ? []
      : [
          `Prompts of templates: ${String(distinct)}, each asked ${config.repeats === 1 ? 'once, so that there is no noise floor' : `${String(config.repeats)} times`}.`,
        ]),
    ...(config.promptsPath === null ? [] : [`Prompts of rows: ${config.promptsPath}.`]),
    ...(config.answers === null ? [] : [`Answers: ${String(config.answers.length)} rows; nothing is sent.`]),
    ...(config.answersPath === null ? [] : [`Answers: ${config.answersPath}; nothing is sent.`]),
    ...(config.bbqPath === null ? [] : [`BBQ: ${config.bbqPath} as ${config.bbqFormats.join(', ')}.`]),
    ...Object.entries(config.benchmarks ?? {}).map(([name, { path }]) => `Benchmark ${name}: ${path.join(', ')}.`),
    `Limits: ${limitsOf(config)}.`,
  ].map(escapeControls);
}

function hasRows({ answers, answersPath, promptsPath }: LLMEvalConfig): boolean {
  return answers !== null || answersPath !== null || promptsPath !== null;
}

function addressWords({ baseUrl, http, command }: LLMEvalConfig): string {
  if (command !== null) return `, the program ${command.join(' ')}`;
  const address = http?.url ?? baseUrl;
  return address === null ? '' : ` at ${address}`;
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
