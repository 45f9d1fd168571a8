import { freezeDeep } from '../../internal/values.ts';
import {
  type CounterfactualConfig,
  EVALUATOR_NAMES,
  type EvaluatorName,
  type LLMEvalConfig,
  type LLMEvalDocument,
  type LLMProvider,
  type LlmTarget,
} from '../../schemas/llm-eval/llm-eval-document.ts';

/** The default models of providers that do not require one. */
export const DEFAULT_MODELS: Readonly<Partial<Record<LLMProvider, string>>> = { local: 'stub', replay: 'replay' };

/** Builds a frozen configuration in camelCase from validated fields, with defaults filled in. */
export function buildLlmEvalConfig(fields: Partial<LLMEvalDocument>): LLMEvalConfig {
  // All required fields are present. Otherwise, the validation would have thrown an error.
  const document = fields as LLMEvalDocument;
  return freezeDeep({
    provider: document.provider,
    model: document.model ?? DEFAULT_MODELS[document.provider] ?? '',
    baseUrl: document.base_url?.replace(/\/+$/, '') ?? null,
    systemPrompt: document.system_prompt ?? null,
    evaluators: document.evaluators ?? evaluatorsFor(mergeTarget(document, document.targets?.[0])),
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
    targets: document.targets?.map(buildTarget) ?? null,
  });
}

/** A target, as written in a file. */
export type TargetDocument = NonNullable<LLMEvalDocument['targets']>[number];

/**
 * Returns the fields of a configuration with those of a target, which take precedence. A target with another provider
 * does not inherit the model, the address and the file of answers, because they belong to the provider.
 */
export function mergeTarget<Fields extends Partial<LLMEvalDocument>>(
  { targets: _, ...fields }: Fields,
  target: TargetDocument | undefined,
): Omit<Fields, 'targets'> {
  if (target === undefined) return fields;
  const { name: __, template, ...own } = target;
  const isOther = own.provider !== undefined && own.provider !== fields.provider;
  const section = fields.counterfactual;
  return {
    ...fields,
    ...(isOther ? { model: undefined, base_url: undefined, replay_path: undefined } : {}),
    ...own,
    ...(template === undefined || section === undefined ? {} : { counterfactual: { ...section, template } }),
  };
}

function buildTarget({ name, template, ...target }: TargetDocument): LlmTarget {
  const { provider, model, base_url: baseUrl, system_prompt: systemPrompt, params } = target;
  const { prompt_templates: promptTemplates, replay_path: replayPath } = target;
  const fields = {
    ...{ provider, model, baseUrl: baseUrl?.replace(/\/+$/, ''), replayPath, systemPrompt },
    params: params === undefined ? undefined : structuredClone(params),
    promptTemplates,
    template: template === undefined ? undefined : [template].flat(),
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { name, ...Object.fromEntries(given) };
}

/** Returns the configuration of each target, by name. The returned configurations have no targets. */
export function targetConfigs(config: LLMEvalConfig): Record<string, LLMEvalConfig> {
  return Object.fromEntries((config.targets ?? []).map((target) => [target.name, targetConfig(config, target)]));
}

function targetConfig(config: LLMEvalConfig, { name: _, template, ...target }: LlmTarget): LLMEvalConfig {
  const { counterfactual, provider: usual } = config;
  const provider = target.provider ?? usual;
  const isOther = provider !== usual;
  const inherited = isOther ? { model: DEFAULT_MODELS[provider] ?? '', baseUrl: null, replayPath: null } : {};
  return freezeDeep({
    ...config,
    ...inherited,
    ...(target as Partial<LLMEvalConfig>),
    provider,
    counterfactual: counterfactual && { ...counterfactual, template: template ?? counterfactual.template },
    targets: null,
  });
}

/** Builds the section `counterfactual`. Omitted parts are empty. */
export function buildCounterfactual(section: NonNullable<LLMEvalDocument['counterfactual']>): CounterfactualConfig {
  const { template = [], dimensions, defaults = {}, name_pools: namePools = {} } = section;
  const { control_dimension: controlDimension } = section;
  return {
    template: typeof template === 'string' ? [template] : template,
    dimensions,
    defaults,
    namePools,
    ...(controlDimension === undefined ? {} : { controlDimension }),
  };
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
