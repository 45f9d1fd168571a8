import path from 'node:path';

import { freezeDeep, isMapping } from '../../internal/values.ts';
import {
  type CounterfactualConfig,
  EVALUATOR_NAMES,
  type EvaluatorName,
  type HttpEndpointConfig,
  type LLMEvalConfig,
  type LLMEvalDocument,
  type LLMProvider,
  type PromptTemplate,
  type TemplateMessage,
} from '../../schemas/llm-eval/llm-eval-document.ts';
import { DEFAULT_BODY } from '../client/http-template.ts';

/** The default models of providers that send nothing. */
const DEFAULT_MODELS: Readonly<Partial<Record<LLMProvider, string>>> = { local: 'stub', replay: 'replay' };

/** Returns the default model of a provider; undefined if the configuration must name the model. */
export function defaultModel({
  provider,
  http,
  command,
}: Pick<Partial<LLMEvalDocument>, 'provider' | 'http' | 'command'>): string | undefined {
  if (provider === 'http') return http !== undefined && URL.canParse(http.url) ? new URL(http.url).host : 'http';
  if (provider === 'command') return path.basename(command?.[0] ?? 'command');
  return provider === undefined ? undefined : DEFAULT_MODELS[provider];
}

/** Builds a frozen configuration in camelCase from validated fields, with defaults filled in. */
export function buildLlmEvalConfig(fields: Partial<LLMEvalDocument>): LLMEvalConfig {
  // All required fields are present. Otherwise, the validation would have thrown an error.
  const document = fields as LLMEvalDocument;
  return freezeDeep({
    provider: document.provider,
    model: document.model ?? defaultModel(document) ?? '',
    baseUrl: document.base_url?.replace(/\/+$/, '') ?? null,
    http: document.http === undefined ? null : buildHttp(document.http),
    command: document.command ?? null,
    commandInput: document.command_input,
    systemPrompt: document.system_prompt ?? null,
    evaluators: document.evaluators ?? evaluatorsFor(document),
    promptTemplates: document.prompt_templates ?? {},
    counterfactual: document.counterfactual === undefined ? null : buildCounterfactual(document.counterfactual),
    cacheDir: document.cache_dir,
    replayOnly: document.replay_only,
    replayPath: document.replay_path ?? null,
    maxRequestsPerRun: document.max_requests_per_run ?? null,
    maxTokensPerRun: document.max_tokens_per_run ?? null,
    maxCostUsd: document.max_cost_usd ?? null,
    maxMinutes: document.max_minutes ?? null,
    concurrency: document.concurrency,
    timeoutMillis: document.timeout_ms,
    repeats: document.repeats,
    params: structuredClone(document.params ?? {}),
    bbqPath: document.bbq_path ?? null,
    bbqFormats: [...document.bbq_formats],
    prices: buildPrices(document.prices ?? {}),
    allowSmallSamples: document.allow_small_samples,
  });
}

/** Builds the section `http`. */
function buildHttp(section: NonNullable<LLMEvalDocument['http']>): HttpEndpointConfig {
  const { url, method, headers = {}, body } = section;
  return {
    ...{ url, method, headers },
    body: body === undefined ? DEFAULT_BODY : structuredClone(body),
    answerPath: section.answer_path ?? null,
    inputTokensPath: section.input_tokens_path ?? null,
    outputTokensPath: section.output_tokens_path ?? null,
  };
}

/** Builds the section `counterfactual`. Omitted parts are empty. */
export function buildCounterfactual(section: NonNullable<LLMEvalDocument['counterfactual']>): CounterfactualConfig {
  const { template = [], dimensions, defaults = {}, name_pools: namePools = {} } = section;
  const { control_dimension: controlDimension } = section;
  return {
    template: templatesIn(template),
    dimensions,
    defaults,
    namePools,
    ...(controlDimension === undefined ? {} : { controlDimension }),
  };
}

/** Returns the templates of the section `counterfactual`: one text, one conversation, or a list of both. */
export function templatesIn(
  template: NonNullable<NonNullable<LLMEvalDocument['counterfactual']>['template']>,
): readonly PromptTemplate[] {
  if (typeof template === 'string') return [template];
  return isConversation(template) ? [template] : (template as readonly PromptTemplate[]);
}

/** Returns whether a list is a conversation, not a list of templates. The items of a conversation are messages. */
export function isConversation(template: readonly unknown[]): template is readonly TemplateMessage[] {
  return template.length > 0 && template.every(isMapping);
}

/** Returns whether the configuration contains prompts that the evaluator can use. */
export function hasMaterial(evaluator: EvaluatorName, fields: Partial<LLMEvalDocument>): boolean {
  const { counterfactual, prompt_templates: templates = {}, bbq_path: bbqPath } = fields;
  const hasPrompts = Object.keys(templates).length > 0 || (counterfactual?.template?.length ?? 0) > 0;
  if (evaluator === 'counterfactual') return counterfactual !== undefined;
  return hasPrompts || (evaluator === 'stereotype' && bbqPath !== undefined);
}

function evaluatorsFor(document: LLMEvalDocument): EvaluatorName[] {
  return EVALUATOR_NAMES.filter((name) => hasMaterial(name, document));
}

function buildPrices(prices: NonNullable<LLMEvalDocument['prices']>): LLMEvalConfig['prices'] {
  const entries = Object.entries(prices);
  return Object.fromEntries(entries.map(([model, { input, output, as_of: asOf }]) => [model, { input, output, asOf }]));
}
