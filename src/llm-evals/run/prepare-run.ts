import { ConfigValidationError } from '../../exceptions/index.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import type { ModelIdentity } from '../cache/request-key.ts';
import { ResponseCache } from '../cache/response-cache.ts';
import { buildEstimate } from '../dry-run/build-estimate.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import type { ListedPrice } from '../dry-run/model-prices.ts';
import { priceOf } from '../dry-run/price-of.ts';
import { createEvaluators, planPrompts } from '../evaluators/create-evaluators.ts';
import type { LLMEvaluator } from '../evaluators/llm-evaluator.ts';
import { lintPairs } from '../plan/counterfactual/lint-pairs.ts';
import { planRequests, type RequestPlan } from '../plan/plan-requests.ts';
import { mostTokens, requestParams } from '../plan/request-params.ts';
import { findsIn, readReplay } from '../transcript/read-replay.ts';
import type { AnswerRecord } from '../transcript/transcript.ts';
import { findKnownAnswers, type KnownAnswers } from './known-answers.ts';
import { planParts } from './plan-parts.ts';
import type { PlanOptions } from './run-options.ts';
import { undefinedMetrics } from './undefined-metrics.ts';

/** A run before its first request: what it needs, what is known, what it will send and cost. */
export interface PreparedRun {
  readonly config: LLMEvalConfig;
  readonly evaluators: readonly LLMEvaluator[];
  readonly plan: RequestPlan;
  readonly known: KnownAnswers;
  readonly cache: ResponseCache | null;
  readonly price: ListedPrice | null;
  /** Tokens that an answer has at most. */
  readonly maxTokens: number;
  readonly estimate: DryRunEstimate;
  /** Whether answers may only be replayed. */
  readonly isReplay: boolean;
  /** The id of the client that was passed; null without one. */
  readonly client: string | null;
}

/**
 * Plans a run and looks up what is known already. Sends and writes nothing.
 * @param resumed lines of the transcript that is continued
 * @throws {ConfigValidationError} for prompts that differ in more than the dimension, or a budget of money without a price
 */
export async function prepareRun(
  given: LLMEvalConfig,
  options: PlanOptions,
  resumed: readonly AnswerRecord[],
): Promise<PreparedRun> {
  const config = withMaxCost(given, options.maxCostUsd);
  const evaluators = createEvaluators(config.evaluators, options.evaluators);
  const prompts = planPrompts(evaluators, config);
  lintPairs(prompts);
  const params = requestParams(config);
  const model = modelIdentity(config, options);
  const plan = planRequests(prompts, model, params);
  const price = priceOf(config);
  assertPriced(config, price);
  const replayPath = options.replayPath ?? config.replayPath ?? undefined;
  const isReplay = options.client === undefined && (options.replayPath !== undefined || config.provider === 'replay');
  const cache = cacheOf(config, options, isReplay);
  const known = await findKnownAnswers(plan.requests, {
    resumed: new Map(resumed.map((record) => [record.key, record])),
    retryErrors: options.retryErrors ?? false,
    replayed: isReplay ? findsIn(await readReplay(replayPath, config)) : null,
    cache,
    model: options.client?.id ?? clientId(model),
  });
  const maxTokens = mostTokens(params);
  const estimate = buildEstimate({
    parts: planParts(plan, known),
    model: model.model,
    price,
    maxTokens,
    systemPrompt: config.systemPrompt,
    knownOutputTokens: [...known.records.values()].flatMap(({ outputTokens }) => outputTokens ?? []),
    limits: config,
    undefinedMetrics: undefinedMetrics(evaluators, options.evaluators ?? [], prompts, config, {
      minGroupSize: options.minGroupSize ?? 5,
      allowSmallSamples: options.allowSmallSamples ?? config.allowSmallSamples,
    }),
  });
  return {
    config,
    evaluators,
    plan,
    known,
    cache,
    price,
    maxTokens,
    estimate,
    isReplay,
    client: options.client?.id ?? null,
  };
}

function withMaxCost(config: LLMEvalConfig, maxCostUsd: number | undefined): LLMEvalConfig {
  return maxCostUsd === undefined ? config : Object.freeze({ ...config, maxCostUsd });
}

/** Whose answers they are, in keys. */
function modelIdentity(config: LLMEvalConfig, { client }: PlanOptions): ModelIdentity {
  if (client !== undefined) return { provider: 'client', baseUrl: null, model: client.id };
  return { provider: config.provider, baseUrl: config.baseUrl, model: config.model };
}

function clientId({ provider, baseUrl, model }: ModelIdentity): string {
  return [provider, ...(baseUrl === null ? [] : [baseUrl]), model].join(':');
}

function cacheOf(config: LLMEvalConfig, { cache, client }: PlanOptions, isReplay: boolean): ResponseCache | null {
  if (cache !== undefined) return cache;
  const isFree = config.provider === 'local' || isReplay;
  return isFree || client !== undefined ? null : new ResponseCache({ cacheDir: config.cacheDir });
}

function assertPriced({ maxCostUsd, model }: LLMEvalConfig, price: ListedPrice | null): void {
  if (maxCostUsd === null || price !== null) return;
  throw new ConfigValidationError(`max_cost_usd needs a price, and that of the model '${model}' is not known.`, {
    context: { parameter: 'max_cost_usd', model },
    suggestion: 'Give it under prices: { model: { input, output, as_of } }, in US dollars for a million tokens.',
  });
}
