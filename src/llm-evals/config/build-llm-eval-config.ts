import path from 'node:path';

import { freezeDeep, isMapping, listOf, withoutUndefined } from '../../internal/values.ts';
import {
  type BenchmarkSource,
  type CounterfactualConfig,
  type EmbeddingConfig,
  EVALUATOR_NAMES,
  type EvaluatorName,
  type HttpEndpointConfig,
  type JudgeConfig,
  type LLMEvalConfig,
  type LLMEvalDocument,
  type LLMProvider,
  type LlmTarget,
  OUTCOME_NAMES,
  type OutcomeConfig,
  type OutcomeName,
  type OutcomeSpec,
  type PromptTemplate,
  type TemplateMessage,
} from '../../schemas/llm-eval/llm-eval-document.ts';
import { DEFAULT_BODY } from '../client/http-template.ts';
import { sourcePools } from '../plan/names/source-pools.ts';

/** The default models of providers that send nothing. */
const DEFAULT_MODELS: Readonly<Partial<Record<LLMProvider, string>>> = { local: 'stub', replay: 'replay' };

/** The parts of a configuration, parsed or as written in a file, that determine the default model. */
interface ModelSource {
  readonly provider?: LLMProvider | undefined;
  readonly http?: { readonly url: string } | null | undefined;
  readonly command?: readonly string[] | null | undefined;
}

/** Returns the default model of a provider; undefined if the configuration must name the model. */
export function defaultModel({ provider, http, command }: ModelSource): string | undefined {
  if (provider === 'http') return http && URL.canParse(http.url) ? new URL(http.url).host : 'http';
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
    evaluators: document.evaluators ?? evaluatorsFor(mergeTarget(document, document.targets?.[0])),
    promptTemplates: document.prompt_templates ?? {},
    counterfactual: document.counterfactual === undefined ? null : buildCounterfactual(document.counterfactual),
    outcome: buildOutcome(document.outcome ?? {}),
    judge: buildJudge(document),
    metrics: document.metrics ?? null,
    answers: document.answers ?? null,
    answersPath: document.answers_path ?? null,
    promptsPath: document.prompts_path ?? null,
    dimensions: document.dimensions ?? null,
    cluster: document.cluster ?? null,
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
    targets: document.targets?.map(buildTarget) ?? null,
  });
}

/** The fields that belong to the provider of a configuration, without a value. */
const OF_PROVIDER = {
  ...{ model: undefined, base_url: undefined, replay_path: undefined, http: undefined, command: undefined },
  command_input: 'text',
} as const;

/** A target, as written in a file. */
export type TargetDocument = NonNullable<LLMEvalDocument['targets']>[number];

/**
 * Returns the fields of a configuration with those of a target, which take precedence. A target with another provider
 * does not inherit the model, the address, the endpoint, the program and the file of answers, because they belong to the
 * provider.
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
    ...(isOther ? OF_PROVIDER : {}),
    ...own,
    ...(template === undefined || section === undefined ? {} : { counterfactual: { ...section, template } }),
  };
}

function buildTarget({ name, template, ...target }: TargetDocument): LlmTarget {
  const { provider, model, base_url: baseUrl, system_prompt: systemPrompt, params } = target;
  const { prompt_templates: promptTemplates, replay_path: replayPath } = target;
  const { http, command, command_input: commandInput } = target;
  const fields = {
    ...{ provider, model, baseUrl: baseUrl?.replace(/\/+$/, ''), replayPath, systemPrompt },
    ...{ http: http && buildHttp(http), command, commandInput },
    params: params === undefined ? undefined : structuredClone(params),
    promptTemplates,
    template: template === undefined ? undefined : templatesIn(template),
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
  const inherited =
    provider === usual
      ? config
      : { ...config, baseUrl: null, replayPath: null, http: null, command: null, commandInput: 'text' as const };
  const own = { ...inherited, ...(target as Partial<LLMEvalConfig>), provider };
  // The default model of an endpoint or a program is its own name, so it is not inherited.
  const hasOwnModel = target.model !== undefined || (provider === usual && config.model !== defaultModel(config));
  return freezeDeep({
    ...own,
    model: hasOwnModel ? own.model : (defaultModel(own) ?? ''),
    counterfactual: counterfactual && { ...counterfactual, template: template ?? counterfactual.template },
    targets: null,
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
export function buildCounterfactual(section: CounterfactualSection): CounterfactualConfig {
  const { template = [], dimensions, defaults = {}, intersections, language, pronouns } = section;
  const { control_dimension: controlDimension, name_source: nameSource, max_names: maxNames } = section;
  return {
    template: templatesIn(template),
    dimensions,
    defaults,
    namePools: poolsOf(section),
    ...withoutUndefined({ nameSource, maxNames, intersections, language, pronouns, controlDimension }),
  };
}

type OutcomeDocument = NonNullable<LLMEvalDocument['outcome']>;
type OutcomeEntry = Exclude<NonNullable<OutcomeDocument[OutcomeName]>, readonly unknown[]>;

function buildOutcome(given: OutcomeDocument): OutcomeConfig {
  const named = OUTCOME_NAMES.flatMap((name) => {
    const entry = given[name];
    return entry === undefined ? [] : [[name, [entry].flat().map(buildSpec)] as const];
  });
  return Object.fromEntries(named);
}

function buildSpec({ json_path: jsonPath, number, ...rest }: OutcomeEntry): OutcomeSpec {
  const { json_path: numberPath, ...range } = number ?? {};
  return withoutUndefined({
    ...{ jsonPath, ...rest },
    number: number && withoutUndefined({ jsonPath: numberPath, ...range }),
  });
}

/** Returns whether an outcome is graded by a rubric. */
export function hasRubric({ outcome = {} }: Partial<LLMEvalDocument>): boolean {
  return OUTCOME_NAMES.some((name) => [outcome[name] ?? []].flat().some((entry) => entry.judge !== undefined));
}

/** The parameters of the judge's requests that the configuration does not set. A grade is short. */
const JUDGE_PARAMS = { max_tokens: 100, temperature: 0 };

/**
 * Builds the judge. Without a key `judge`, the model of the run judges its own answers if an outcome has a rubric.
 */
function buildJudge(document: LLMEvalDocument): JudgeConfig | null {
  const { judge } = document;
  if (judge?.pairwise === undefined && !hasRubric(document)) return null;
  const provider = judge?.provider ?? document.provider;
  const isSame = judge?.provider === undefined || judge.provider === document.provider;
  return {
    provider,
    model: judge?.model ?? (isSame ? document.model : undefined) ?? defaultModel({ provider }) ?? '',
    baseUrl: (judge?.base_url ?? (isSame ? document.base_url : undefined))?.replace(/\/+$/, '') ?? null,
    params: { ...JUDGE_PARAMS, ...structuredClone(judge?.params ?? {}) },
    blind: judge?.blind ?? true,
    repeats: judge?.repeats ?? 1,
    pairwise: judge?.pairwise ?? null,
    controls: judge?.controls ?? 10,
  };
}

/** The fields that contain rows of answers or prompts. */
export const ROW_FIELDS = ['answers', 'answers_path', 'prompts_path'] as const;

/** The section `counterfactual` of a configuration, as written in a file. */
export type CounterfactualSection = NonNullable<LLMEvalDocument['counterfactual']>;

/** Returns the name pools of a section: its own, or those of its published list. */
export function poolsOf({ dimensions, name_pools: own = {}, name_source: source }: CounterfactualSection): Pools {
  const found = source === undefined ? undefined : sourcePools(source, dimensions);
  return found !== undefined && 'pools' in found ? found.pools : own;
}

type Pools = CounterfactualConfig['namePools'];

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
  if (ROW_FIELDS.some((name) => fields[name] !== undefined)) return true;
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
