import { ConfigValidationError } from '../../exceptions/index.ts';
import { groupBy } from '../../internal/values.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { findsIn, readReplay } from '../bbq/read-replay.ts';
import type { ModelIdentity } from '../cache/request-key.ts';
import { ResponseCache } from '../cache/response-cache.ts';
import type { LiveAccessOptions } from '../client/access.ts';
import { type AnswerRecord, answerRecord, completionFields } from '../client/transcript.ts';
import { buildEstimate, type PlannedPart } from '../dry-run/build-estimate.ts';
import type { UndefinedMetric } from '../dry-run/dry-run-estimate.ts';
import { estimateJudge } from '../dry-run/estimate-judge.ts';
import { priceOf, type ListedPrice } from '../dry-run/model-prices.ts';
import { OUTCOME_EVALUATOR, OutcomeEvaluator } from '../evaluators/outcome-evaluator.ts';
import { tokenCounter } from '../dry-run/token-counter.ts';
import { createEvaluators, planPrompts } from '../evaluators/create-evaluators.ts';
import { loadMetrics, splitMetrics, type SplitMetrics } from '../outcome/metric-functions.ts';
import { turnCount } from '../plan/conversation.ts';
import { lintPairs } from '../plan/counterfactual/lint-pairs.ts';
import { pronounConfig } from '../plan/counterfactual/pronouns.ts';
import {
  type LLMRequest,
  maxTokenCount,
  modelId,
  modelIdentity,
  type PlannedPrompt,
  planRequests,
  requestParams,
  type RequestPlan,
} from '../plan/planned-prompt.ts';
import type { LLMEvaluator } from '../scoring/llm-evaluator.ts';
import { readAnswers, readPrompts, withRowOptions } from '../rows/read-prompt-rows.ts';
import { embedderOf } from './get-embedder.ts';
import { prepareCollected } from './prepare-collected.ts';
import type { KnownAnswers, PreparedRun } from './prepared-run.ts';
import type { PlanOptions } from './run-options.ts';

const FEW = 'Add templates or name_pools, or allow small samples (allow_small_samples).';
const NO_FLOOR = 'Set repeats to 2 or more, add name_pools, or set a control_dimension.';

const GAPS = ['sentiment_gap', 'length_gap', 'refusal_gap', 'decision_gap', 'sentiment_distance'];
const EXCESSES = ['rouge_l_excess', 'bleu_excess', 'jaccard_excess', 'sentiment_excess'];
const BY_DIMENSION: Readonly<Record<string, readonly string[]>> = {
  counterfactual: [...GAPS, ...EXCESSES],
  refusal: ['refusal_rate_difference', 'partial_refusal_rate_difference'],
  toxicity_sentiment: ['toxicity_gap', 'toxic_fraction_difference', 'negative_sentiment_gap'],
};
const OVERALL: Readonly<Record<string, readonly string[]>> = {
  refusal: ['refusal_rate', 'partial_refusal_rate'],
  toxicity_sentiment: ['toxic_fraction', 'expected_maximum_toxicity', 'toxicity_probability'],
};

/**
 * Lists the metrics that will be undefined whatever the answers are. Such metrics have too few independent items, or
 * need a noise floor but have none. Does not check BBQ metrics, associations, other benchmarks and evaluators
 * that were passed as objects.
 */
function undefinedMetrics(
  evaluators: readonly LLMEvaluator[],
  own: readonly LLMEvaluator[],
  prompts: readonly PlannedPrompt[],
  config: LLMEvalConfig,
  min: number,
): readonly UndefinedMetric[] {
  return evaluators
    .filter((evaluator) => !own.includes(evaluator))
    .flatMap(({ name }): UndefinedMetric[] => {
      const asked = prompts.filter(({ evaluator }) => evaluator === name);
      const distinct = new Set(asked.map(({ prompt }) => prompt)).size;
      const overall = (OVERALL[name] ?? []).map((metric) => ({
        metric,
        ...few(distinct, min, 'different prompt is', 'different prompts are'),
      }));
      const dimensions = [...new Set(asked.flatMap(({ dimension }) => dimension ?? []))];
      const gaps = dimensions.flatMap((dimension) => {
        const those = asked.filter((prompt) => prompt.dimension === dimension);
        const units = new Set(those.map(({ unit, item }) => unit ?? item)).size;
        const hasNames = those.some(({ details }) => 'name' in details);
        return metricsByDimension(evaluators, name, config).map((metric) => ({
          metric: `${metric}.${dimension}`,
          ...(few(units, min, 'independent item is', 'independent items are') ??
            (EXCESSES.includes(metric) && !hasNames ? noFloor(dimension, config) : null)),
        }));
      });
      return [...overall, ...gaps].filter((each): each is UndefinedMetric => 'reason' in each);
    });
}

/** Lists the metrics that an evaluator computes for each dimension. */
export function metricsByDimension(
  evaluators: readonly LLMEvaluator[],
  name: string,
  { outcome }: LLMEvalConfig,
): readonly string[] {
  if (name === OUTCOME_EVALUATOR) return declaredGaps(evaluators);
  const metrics = BY_DIMENSION[name] ?? [];
  // A declared decision replaces the decision that the counterfactual evaluator recognizes.
  return outcome.decision === undefined ? metrics : metrics.filter((metric) => metric !== 'decision_gap');
}

function declaredGaps(evaluators: readonly LLMEvaluator[]): readonly string[] {
  const own = evaluators.find((evaluator) => evaluator instanceof OutcomeEvaluator);
  return own?.gaps ?? [];
}

type Why = Pick<UndefinedMetric, 'reason' | 'suggestion'>;

function few(count: number, min: number, one: string, many: string): Why | null {
  if (count >= min) return null;
  const reason = `${String(count)} ${count === 1 ? one : many} planned, fewer than ${String(min)} (min_group_size); items with the same name, or with the same template, count once`;
  return { reason, suggestion: FEW };
}

function noFloor(dimension: string, { counterfactual, repeats }: LLMEvalConfig): Why | null {
  const control = counterfactual?.controlDimension;
  if (repeats >= 2 || (control !== undefined && control !== dimension)) return null;
  return { reason: 'there is no noise floor: each prompt is asked once', suggestion: NO_FLOOR };
}

/** How a run is prepared that is one of several. */
export interface PrepareOptions {
  /**
   * The keys of requests that other runs already need. They do not count as requests of this run. The keys of this run
   * are added.
   */
  readonly seen?: Set<string> | undefined;
  /**
   * Finds recorded answers, instead of the file that the options name. No requests are then sent.
   * @defaultValue the answers of `replayPath`, by key or by prompt
   */
  readonly replayed?: AnswerSources['replayed'] | undefined;
}

/**
 * Plans a run and looks up the known answers. Sends nothing and writes nothing.
 * @param resumed the records of the transcript that the run continues
 * @throws {ConfigValidationError} if prompts differ in more than the dimension, or if there is a cost budget but no
 * price
 */
export async function prepareRun(
  given: LLMEvalConfig,
  options: PlanOptions & Pick<LiveAccessOptions, 'live'>,
  resumed: readonly AnswerRecord[],
  { seen = new Set(), replayed }: PrepareOptions = {},
): Promise<PreparedRun> {
  const { maxCostUsd } = options;
  const limited = maxCostUsd === undefined ? given : Object.freeze({ ...given, maxCostUsd });
  const config = withRowOptions(limited, options);
  const metrics = await customMetrics(config, options);
  const evaluators = createEvaluators(config, options.evaluators, metrics, embedderOf(config, options));
  const resumedByKey = new Map(resumed.map((record) => [record.key, record]));
  const answers = await readAnswers(config);
  if (answers !== null) {
    assertNotReplayed(options);
    const sources = { resumed: resumedByKey, retryErrors: options.retryErrors ?? false, replayed: null };
    const collected = prepareCollected(config, evaluators, answers, options.client?.id ?? null);
    return { ...collected, metrics, findKnown: finderIn(sources) };
  }
  const { prompts, notes } = await planAll(evaluators, config);
  const params = requestParams(config);
  const model = identityOf(config, options);
  const plan = planRequests(prompts, model, params);
  const price = priceOf(config);
  assertPriced(config, price);
  const replayPath = options.replayPath ?? config.replayPath ?? undefined;
  const isFile = options.client === undefined && (options.replayPath !== undefined || config.provider === 'replay');
  const isReplay = isFile || (replayed ?? null) !== null;
  const cache = cacheOf(config, options, isReplay);
  const sources = {
    resumed: resumedByKey,
    retryErrors: options.retryErrors ?? false,
    replayed: replayed ?? (isFile ? findsIn(await readReplay(replayPath, config)) : null),
  };
  const known = await findKnownAnswers(plan.requests, {
    ...sources,
    cache,
    model: options.client?.id ?? modelId(model),
  });
  const maxTokens = maxTokenCount(params);
  const allowsSmall = options.allowSmallSamples ?? config.allowSmallSamples;
  const minItems = allowsSmall ? 1 : (options.minGroupSize ?? 5);
  // The model of a client is unknown, so its tokens are estimated.
  const tokens = await tokenCounter(options.client === undefined ? config : { ...config, model: '' });
  const estimate = buildEstimate({
    parts: planParts(plan, known, seen),
    model: model.model,
    price,
    maxTokens,
    tokens,
    knownOutputTokens: [...known.records.values()].flatMap(outputTokensOf),
    limits: config,
    undefinedMetrics: undefinedMetrics(
      evaluators,
      [...(options.evaluators ?? []), ...metrics.evaluators],
      prompts,
      config,
      minItems,
    ),
    judge: config.judge === null ? null : estimateJudge(config, config.judge, plan.prompts),
  });
  const client = options.client?.id ?? null;
  return {
    config,
    evaluators,
    plan,
    known,
    cache,
    price,
    maxTokens,
    estimate,
    tokens,
    isReplay,
    client,
    collected: null,
    notes,
    metrics,
    findKnown: finderIn(sources),
  };
}

function finderIn(sources: Omit<AnswerSources, 'cache' | 'model'>): PreparedRun['findKnown'] {
  return (requests, cache, model) => findKnownAnswers(requests, { ...sources, cache, model });
}

/** Returns the custom metrics of the options and of the configuration's module. */
export async function customMetrics(
  config: LLMEvalConfig,
  { metrics = {}, allowCode = false }: Pick<PlanOptions, 'metrics' | 'allowCode'>,
): Promise<SplitMetrics> {
  const loaded = config.metrics === null ? {} : await loadMetrics(config.metrics, allowCode);
  return splitMetrics({ ...loaded, ...metrics });
}

/**
 * Plans the prompts of templates and of the file of prompts. Only the prompts of templates are checked to differ in
 * nothing but the dimension: in a file, a value need not be a word of its prompt.
 */
async function planAll(
  evaluators: readonly LLMEvaluator[],
  config: LLMEvalConfig,
): Promise<{ readonly prompts: readonly PlannedPrompt[]; readonly notes: readonly string[] }> {
  const planned = planPrompts(evaluators, config);
  lintPairs(planned, pronounConfig(config));
  const names = evaluators.map(({ name }) => name);
  const { prompts, notes } = await readPrompts(config, names);
  return { prompts: [...planned, ...prompts], notes };
}

function assertNotReplayed({ replayPath, resume }: PlanOptions): void {
  const other = replayPath !== undefined ? 'replayPath' : resume === true ? 'resume' : undefined;
  if (other === undefined) return;
  throw new ConfigValidationError(`${other} cannot be combined with collected answers, because no model is asked.`, {
    context: { parameter: other },
    suggestion: `Remove ${other}, or remove the answers.`,
  });
}

/** Returns the identity of the model, which is part of the key of every request. */
function identityOf(config: LLMEvalConfig, { client }: PlanOptions): ModelIdentity {
  if (client !== undefined) return { provider: 'client', baseUrl: null, model: client.id };
  return modelIdentity(config);
}

function cacheOf(config: LLMEvalConfig, { cache, client }: PlanOptions, isReplay: boolean): ResponseCache | null {
  if (cache !== undefined) return cache;
  const isFree = config.provider === 'local' || isReplay;
  return isFree || client !== undefined ? null : new ResponseCache({ cacheDir: config.cacheDir });
}

function assertPriced({ maxCostUsd, model }: LLMEvalConfig, price: ListedPrice | null): void {
  if (maxCostUsd === null || price !== null) return;
  throw new ConfigValidationError(`max_cost_usd needs a price, but the price of the model '${model}' is unknown.`, {
    context: { parameter: 'max_cost_usd', model },
    suggestion: 'Set it under prices: { model: { input, output, as_of } }, in US dollars per million tokens.',
  });
}

/**
 * Divides the requests of the plan into parts, one part for each evaluator and template. A request that belongs to
 * several parts is counted only in the first one.
 * @param seen the keys of requests that are counted elsewhere; the keys of the plan are added
 */
function planParts({ prompts }: RequestPlan, { records, missing }: KnownAnswers, seen: Set<string>): PlannedPart[] {
  const turnsByKey = new Map(missing.map(({ key, turns }) => [key, turns]));
  const requests = prompts.map(({ evaluator, template, key, prompt, messages }) => {
    const isShared = seen.has(key);
    seen.add(key);
    const turns = turnsByKey.get(key);
    return { evaluator, template, request: { key, prompt, messages, turns, isShared, isCached: records.has(key) } };
  });
  const parts = groupBy(requests, ({ evaluator, template }) => JSON.stringify([evaluator, template]));
  return [...parts.values()].map((those) => ({
    evaluator: those[0]?.evaluator ?? '',
    template: those[0]?.template ?? '',
    requests: those.map(({ request }) => request),
    knownOutputTokens: those.flatMap(({ request }) => outputTokensOf(records.get(request.key))),
  }));
}

/** Returns the mean number of output tokens of the turns of a known answer; nothing if it is not known. */
function outputTokensOf(record: AnswerRecord | undefined): number[] {
  const { outputTokens = null, turns = [] } = record ?? {};
  return outputTokens === null ? [] : [outputTokens / (turns.length + 1)];
}

/** The sources of cached and recorded answers, in the order in which they are searched. */
interface AnswerSources {
  /** The records of the transcript that the run continues, by key. */
  readonly resumed: ReadonlyMap<string, AnswerRecord>;
  /** Whether prompts that failed in this transcript are sent again. */
  readonly retryErrors: boolean;
  /** A function that returns the recorded answer to a prompt and repeat; null if the run replays no answers. */
  readonly replayed: ((request: LLMRequest) => AnswerRecord | undefined) | null;
  readonly cache: ResponseCache | null;
  /** The client's id, which is stored with each answer from the cache. */
  readonly model: string;
}

/** Looks up the answers of requests in all sources. */
async function findKnownAnswers(requests: readonly LLMRequest[], sources: AnswerSources): Promise<KnownAnswers> {
  const records = new Map<string, AnswerRecord>();
  const missing: LLMRequest[] = [];
  for (const request of requests) {
    const record = await findAnswer(request, sources);
    if (record === undefined) missing.push(continued(request, sources.resumed.get(request.key)));
    else records.set(request.key, record);
  }
  return { records, missing };
}

/** Returns the request with the answers to its first turns, if an earlier run received them. */
function continued(request: LLMRequest, before: AnswerRecord | undefined): LLMRequest {
  const { turns = [] } = before ?? {};
  const isPart = turns.length > 0 && turns.length < turnCount(request.messages);
  return isPart ? { ...request, turns } : request;
}

async function findAnswer(request: LLMRequest, sources: AnswerSources): Promise<AnswerRecord | undefined> {
  const { resumed, retryErrors, replayed, cache, model } = sources;
  const before = resumed.get(request.key);
  // A conversation that the end of a run interrupted is continued.
  const isInterrupted = before?.error?.kind === 'not_sent';
  if (before !== undefined && !isInterrupted && (before.error === null || !retryErrors)) return before;
  const recorded = replayed?.(request);
  if (recorded !== undefined && recorded.error?.kind !== 'not_sent')
    return { ...recorded, key: request.key, cached: true, attempts: 0 };
  const answer = await cache?.get(request.key);
  return answer && answerRecord(request, { ...completionFields(answer), model, cached: true });
}
