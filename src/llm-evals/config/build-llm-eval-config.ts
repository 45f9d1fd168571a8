import { freezeDeep, listOf } from '../../internal/values.ts';
import {
  type BenchmarkSource,
  type CounterfactualConfig,
  type EmbeddingConfig,
  EVALUATOR_NAMES,
  type EvaluatorName,
  type LLMEvalConfig,
  type LLMEvalDocument,
  type LLMProvider,
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
    benchmarks: document.benchmarks === undefined ? null : buildBenchmarks(document.benchmarks),
    embedding: document.embedding === undefined ? null : buildEmbedding(document.embedding),
    prices: buildPrices(document.prices ?? {}),
    allowSmallSamples: document.allow_small_samples,
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
  if (evaluator === 'benchmarks') return fields.benchmarks !== undefined;
  return hasPrompts || (evaluator === 'stereotype' && bbqPath !== undefined);
}

function evaluatorsFor(document: LLMEvalDocument): EvaluatorName[] {
  return EVALUATOR_NAMES.filter((name) => hasMaterial(name, document));
}

/** The seed of a subsample if the configuration has none. */
const SEED = 42;

function buildBenchmarks(section: NonNullable<LLMEvalDocument['benchmarks']>): LLMEvalConfig['benchmarks'] {
  const sources = Object.entries(section).flatMap(([name, given]): [string, BenchmarkSource][] => {
    if (given === undefined) return [];
    const { path, limit, seed = SEED } = typeof given === 'string' || Array.isArray(given) ? { path: given } : given;
    return [[name, { path: listOf(path), ...(limit === undefined ? {} : { limit }), seed }]];
  });
  return Object.fromEntries(sources);
}

function buildEmbedding(section: NonNullable<LLMEvalDocument['embedding']>): EmbeddingConfig {
  const { provider, model, base_url: baseUrl, max_requests: maxRequests } = section;
  return {
    ...{ provider, model },
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl.replace(/\/+$/, '') }),
    ...(maxRequests === undefined ? {} : { maxRequests }),
  };
}

function buildPrices(prices: NonNullable<LLMEvalDocument['prices']>): LLMEvalConfig['prices'] {
  const entries = Object.entries(prices);
  return Object.fromEntries(entries.map(([model, { input, output, as_of: asOf }]) => [model, { input, output, asOf }]));
}
