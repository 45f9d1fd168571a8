import { checksumOf } from '../../io/checksum.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import {
  countText,
  type DryRunEstimate,
  type DryRunFields,
  type DryRunPart,
  type EstimateRange,
  type JudgeEstimate,
  type UndefinedMetric,
  usdText,
} from './dry-run-estimate.ts';
import { messagesOfTurn, type PlannedMessage, turnCount } from '../plan/conversation.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import { dryRunDocument } from './dry-run-document.ts';
import { costOf, type ListedPrice } from './model-prices.ts';
import type { TokenCounter } from './token-counter.ts';

/** The limits of a run. If a limit is missing, the run is not limited. */
type RunLimits = Partial<
  Pick<LLMEvalConfig, 'maxRequestsPerRun' | 'maxTokensPerRun' | 'maxCostUsd' | 'maxMinutes' | 'concurrency'>
>;

/** The total requests, tokens and cost of a run. */
interface PlannedTotals {
  readonly requests: number;
  /** Input and output together. */
  readonly tokens: EstimateRange;
  /** The cost in US dollars; null if the price is unknown. */
  readonly costUsd: EstimateRange | null;
}

/**
 * The minimum time in seconds that most requests take. A time limit is reported only if it leaves less time for each
 * request.
 */
const USUAL_SECONDS = 2;

/** Describes the limits that would stop a run early, with one sentence for each limit. */
export function limitSentences(limits: RunLimits, totals: PlannedTotals): readonly string[] {
  if (totals.requests === 0) return Object.freeze([]);
  const sentences = [
    requestsSentence(limits.maxRequestsPerRun ?? Infinity, totals.requests),
    rangeSentence('max_tokens_per_run', limits.maxTokensPerRun ?? Infinity, totals.tokens, totals, countText),
    costSentence(limits.maxCostUsd ?? Infinity, totals),
    minutesSentence(limits.maxMinutes ?? Infinity, limits.concurrency ?? 1, totals.requests),
  ];
  return Object.freeze(sentences.filter((sentence) => sentence !== null));
}

function requestsSentence(limit: number, requests: number): string | null {
  if (requests <= limit) return null;
  return `max_requests_per_run ${countText(limit)} stops after ${countText(limit)} of ${countText(requests)} requests.`;
}

/** Describes a limit on the total tokens or the total cost of a run. */
function rangeSentence(
  name: string,
  limit: number,
  range: EstimateRange,
  { requests }: PlannedTotals,
  text: (value: number) => string,
): string | null {
  if (range.ceiling <= limit) return null;
  if (range.expected <= limit) {
    return `${name} ${text(limit)} may stop the run: it uses at most ${text(range.ceiling)}; ${text(range.expected)} is expected.`;
  }
  const done = Math.floor((requests * limit) / range.expected);
  return `${name} ${text(limit)} stops after about ${countText(done)} of ${countText(requests)} requests: ${text(range.expected)} is expected.`;
}

function costSentence(limit: number, totals: PlannedTotals): string | null {
  if (limit === Infinity) return null;
  if (totals.costUsd !== null) return rangeSentence('max_cost_usd', limit, totals.costUsd, totals, usdText);
  return `max_cost_usd ${usdText(limit)} cannot be enforced: the price of the model is unknown. Set prices in the configuration.`;
}

/**
 * Describes the time limit. Response times are unknown in advance. If the limit leaves only a short time for each
 * request, the sentence states this time.
 */
function minutesSentence(limit: number, concurrency: number, requests: number): string | null {
  const seconds = (60 * limit * concurrency) / requests;
  if (seconds >= USUAL_SECONDS) return null;
  return `max_minutes ${String(limit)} stops the run early if a request takes more than ${seconds.toPrecision(2)} s (concurrency ${String(concurrency)}).`;
}

/** The minimum number of known answers that is needed to estimate the length of other answers. */
const ENOUGH_ANSWERS = 20;

/** The expected number of tokens of an answer to a question of BBQ, or of another benchmark with short answers. */
const SHORT_ANSWER = 15;

/** Matches the names of parts whose prompts ask for a short answer. */
const HAS_SHORT_ANSWERS = /^(?:bbq|crows_pairs|winobias|winogender|discrim_eval)/i;

/** The expected number of tokens of an answer in free text, which usually has one or two paragraphs. */
const FREE_ANSWER = 200;

/**
 * Estimates how many tokens one answer to a prompt in a part of the plan has.
 *
 * The ceiling is `maxTokens`. If there are at least 20 known answers, the expected value is their mean and the low
 * value is their lower quartile. Otherwise, the expected value is 15 for BBQ and 200 for other prompts, and the low
 * value is half the expected value. No value is above the ceiling.
 * @param template the name of the part; it starts with `bbq` if the part belongs to BBQ
 * @param known the number of output tokens of each known answer of the same kind
 */
function answerTokens(template: string, known: readonly number[], maxTokens: number): EstimateRange {
  const expected = expectedTokens(template, known);
  const low = known.length < ENOUGH_ANSWERS ? expected / 2 : quantileSorted(Float64Array.from(known).sort(), 0.25);
  return { low: Math.min(low, expected, maxTokens), expected: Math.min(expected, maxTokens), ceiling: maxTokens };
}

function expectedTokens(template: string, known: readonly number[]): number {
  if (known.length >= ENOUGH_ANSWERS) return known.reduce((sum, tokens) => sum + tokens, 0) / known.length;
  return HAS_SHORT_ANSWERS.test(template) ? SHORT_ANSWER : FREE_ANSWER;
}

/** Multiplies the estimated range for one answer by the number of answers. Rounds to whole tokens. */
function timesRange(answer: EstimateRange, count: number): EstimateRange {
  return Object.freeze({
    low: Math.floor(answer.low * count),
    expected: Math.round(answer.expected * count),
    ceiling: Math.ceil(answer.ceiling * count),
  });
}

/** Adds ranges: the low, the expected and the ceiling values separately. */
export function sumRanges(ranges: readonly EstimateRange[]): EstimateRange {
  const sum = (end: keyof EstimateRange): number => ranges.reduce((total, range) => total + range[end], 0);
  return Object.freeze({ low: sum('low'), expected: sum('expected'), ceiling: sum('ceiling') });
}

/** A request that a part of the plan needs. */
export interface PlannedRequest {
  /** The key of the request. Requests with the same key share one answer. */
  readonly key: string;
  readonly prompt: string;
  /**
   * The messages of a conversation. One request is sent for each turn of the model.
   * @defaultValue the prompt as one message
   */
  readonly messages?: readonly PlannedMessage[] | undefined;
  /**
   * The known answers to the first turns of the conversation. They are not requested again.
   * @defaultValue none
   */
  readonly turns?: readonly string[] | undefined;
  /** Whether an earlier request, of this part or another, has the same key. */
  readonly isShared: boolean;
  /** Whether the answer is cached or recorded. */
  readonly isCached: boolean;
}

/** A part of a plan: one template of one evaluator, with the requests that the template needs. */
export interface PlannedPart {
  readonly evaluator: string;
  /** The part's name. The names of BBQ's parts start with `bbq`, and short answers are expected for them. */
  readonly template: string;
  readonly requests: readonly PlannedRequest[];
  /**
   * The number of output tokens of each known answer to a prompt of this part.
   * @defaultValue the known answers of the complete plan
   */
  readonly knownOutputTokens?: readonly number[] | undefined;
}

/** Input of {@link buildEstimate}. */
export interface EstimateInput {
  readonly parts: readonly PlannedPart[];
  readonly model: string;
  /** The price of the model; null if the price is unknown. */
  readonly price: ListedPrice | null;
  /** The maximum number of tokens of an answer, as in the request. */
  readonly maxTokens: number;
  /** The counter of input tokens. */
  readonly tokens: TokenCounter;
  /**
   * Output tokens of the model's known answers to similar prompts.
   * @defaultValue none
   */
  readonly knownOutputTokens?: readonly number[] | undefined;
  /** @defaultValue none */
  readonly limits?: RunLimits | undefined;
  /**
   * Metrics that will be undefined for all possible answers.
   * @defaultValue none
   */
  readonly undefinedMetrics?: readonly UndefinedMetric[] | undefined;
  /**
   * The requests to the judge.
   * @defaultValue null
   */
  readonly judge?: JudgeEstimate | null | undefined;
}

/**
 * Estimates the requests, tokens and cost of a plan.
 *
 * An answer that several parts need is requested once. The request counts for the first part, and as shared in the
 * other parts. The number of input tokens is counted by the given counter. A conversation needs a request for each turn
 * of the model. Each of these requests contains all earlier messages, with the expected length of the model's answers
 * (for the ceiling, the maximum length).
 *
 * The number of output tokens is a range. The ceiling is `maxTokens` for each answer. If the part or the complete plan
 * has at least 20 known answers, the expected value is their mean, and the low value is their lower quartile. Known
 * answers of the part take precedence over those of the complete plan. With fewer known answers, the expected value is
 * 15 for BBQ and 200 for other prompts, and the low value is half the expected value. The cost is a range too: it is
 * computed from the output range and the input estimate. Retries cost extra. `planDigest` is the SHA-256 of the keys to
 * be sent, sorted and joined by line feeds.
 * @throws {ValueError} if `maxTokens` is not a whole number of at least 1
 */
export function buildEstimate(input: EstimateInput): DryRunEstimate {
  requireInteger('maxTokens', input.maxTokens, 1);
  const counted = input.parts.map((part) => countPart(part, input));
  const breakdown = counted.map(({ part }) => part);
  const needed = input.parts.flatMap(({ requests }) => requests.filter(({ isShared }) => !isShared));
  const toSend = needed.filter(({ isCached }) => !isCached);
  const keysToSend = toSend.map(({ key }) => key);
  const requestCount = toSend.reduce((sum, request) => sum + turnsToSend(request), 0);
  const inputTokens = breakdown.reduce((sum, part) => sum + part.inputTokens, 0);
  const outputTokens = sumRanges(breakdown.map((part) => part.outputTokens));
  const inputCeiling = counted.reduce((sum, part) => sum + part.inputCeiling, 0);
  const inputRange = { low: inputTokens, expected: inputTokens, ceiling: inputCeiling };
  const costUsd = costRange(input.price, inputRange, outputTokens);
  const tokens = sumRanges([outputTokens, inputRange]);
  const fields: DryRunFields = {
    requestCount,
    cachedCount: needed.length - keysToSend.length,
    estimatedInputTokens: inputTokens,
    estimatedOutputTokens: outputTokens,
    estimatedCostUsd: costUsd,
    breakdown: Object.freeze(breakdown),
    price: input.price,
    planDigest: checksumOf([...keysToSend].sort().join('\n')),
    limits: limitSentences(input.limits ?? {}, { requests: requestCount, tokens, costUsd }),
    undefinedMetrics: Object.freeze([...(input.undefinedMetrics ?? [])]),
    model: input.model,
    judge: input.judge ?? null,
    tokenizer: input.tokens.encoding,
    tokenizerInstall: input.tokens.install,
  };
  return Object.freeze({ ...fields, toMarkdown: () => documentToMarkdown(dryRunDocument(fields)) });
}

/** A part of the report, and the maximum number of its input tokens. */
interface CountedPart {
  readonly part: DryRunPart;
  readonly inputCeiling: number;
}

function countPart(part: PlannedPart, input: EstimateInput): CountedPart {
  const own = part.requests.filter(({ isShared }) => !isShared);
  const toSend = own.filter(({ isCached }) => !isCached);
  const requests = toSend.reduce((sum, request) => sum + turnsToSend(request), 0);
  const answer = answerTokens(part.template, knownOf(part, input), input.maxTokens);
  const inputOf = (answerLength: number): number =>
    toSend.reduce((sum, request) => sum + conversationTokens(request, input.tokens, answerLength), 0);
  return {
    part: Object.freeze({
      evaluator: part.evaluator,
      template: part.template,
      planned: part.requests.length,
      shared: part.requests.length - own.length,
      cached: own.length - toSend.length,
      requests,
      inputTokens: inputOf(Math.round(answer.expected)),
      outputTokens: timesRange(answer, requests),
    }),
    inputCeiling: inputOf(answer.ceiling),
  };
}

/** Returns the number of requests that a prompt or a conversation still needs. */
function turnsToSend({ messages, turns = [] }: PlannedRequest): number {
  return turnCount(messages) - turns.length;
}

/**
 * Returns the input tokens of all requests of a conversation.
 * @param answerLength the assumed number of tokens of each answer that is not known yet
 */
function conversationTokens(request: PlannedRequest, { inputTokens }: TokenCounter, answerLength: number): number {
  const { prompt, messages, turns = [] } = request;
  if (messages === undefined) return inputTokens(request);
  let total = 0;
  for (let turn = turns.length; turn < turnCount(messages); turn++) {
    const unknown = turn - turns.length;
    const answers = [...turns, ...Array.from({ length: unknown }, () => ' ')];
    total += inputTokens({ prompt, messages: messagesOfTurn(messages, answers) }) + unknown * answerLength;
  }
  return total;
}

/**
 * Returns the known answers of the part if there are enough. Otherwise, returns the known answers of the complete plan.
 */
function knownOf(part: PlannedPart, input: EstimateInput): readonly number[] {
  const own = part.knownOutputTokens ?? [];
  return own.length >= ENOUGH_ANSWERS ? own : (input.knownOutputTokens ?? []);
}

/** Computes the range of the cost from the ranges of tokens; null if the price is unknown. */
export function costRange(
  price: ListedPrice | null,
  input: EstimateRange,
  output: EstimateRange,
): EstimateRange | null {
  const cost = (end: keyof EstimateRange): number | null => costOf(price, input[end], output[end]);
  const [low, expected, ceiling] = [cost('low'), cost('expected'), cost('ceiling')];
  return low === null || expected === null || ceiling === null ? null : Object.freeze({ low, expected, ceiling });
}
