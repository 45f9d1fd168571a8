import { createHash } from 'node:crypto';

import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requireWhole } from '../../stats/parameters.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import {
  countText,
  type DryRunEstimate,
  type DryRunFields,
  type DryRunPart,
  type EstimateRange,
  type UndefinedMetric,
  usdText,
} from './dry-run-estimate.ts';
import { dryRunMarkdown } from './dry-run-markdown.ts';
import { requestTokens } from './estimate-tokens.ts';
import { costOf, type ListedPrice } from './model-prices.ts';

/** The limits of a run; one that is left out does not hold. */
type RunLimits = Partial<
  Pick<LLMEvalConfig, 'maxRequestsPerRun' | 'maxTokensPerRun' | 'maxCostUsd' | 'maxMinutes' | 'concurrency'>
>;

/** What a run would take. */
interface PlannedTotals {
  readonly requests: number;
  /** Input and output together. */
  readonly tokens: EstimateRange;
  /** null where the price is not known. */
  readonly costUsd: EstimateRange | null;
}

/** An answer in less time is rarer than not. */
const USUAL_SECONDS = 2;

/** What the limits of a run would stop before its end, a sentence each. */
function limitSentences(limits: RunLimits, totals: PlannedTotals): readonly string[] {
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

/** A limit of something that each request takes a share of. */
function rangeSentence(
  name: string,
  limit: number,
  range: EstimateRange,
  { requests }: PlannedTotals,
  text: (value: number) => string,
): string | null {
  if (range.ceiling <= limit) return null;
  if (range.expected <= limit) {
    return `${name} ${text(limit)} may stop the run: at most it takes ${text(range.ceiling)}, and ${text(range.expected)} is expected.`;
  }
  const done = Math.floor((requests * limit) / range.expected);
  return `${name} ${text(limit)} stops after about ${countText(done)} of ${countText(requests)} requests: ${text(range.expected)} is expected.`;
}

function costSentence(limit: number, totals: PlannedTotals): string | null {
  if (limit === Infinity) return null;
  if (totals.costUsd !== null) return rangeSentence('max_cost_usd', limit, totals.costUsd, totals, usdText);
  return `max_cost_usd ${usdText(limit)} cannot be kept to: the price of the model is not known. Give prices in the configuration.`;
}

/** Nobody knows before how long an answer takes; what it may take is told where that is little. */
function minutesSentence(limit: number, concurrency: number, requests: number): string | null {
  const seconds = (60 * limit * concurrency) / requests;
  if (seconds >= USUAL_SECONDS) return null;
  return `max_minutes ${String(limit)} stops the run before its end where a request takes more than ${seconds.toPrecision(2)} s (concurrency ${String(concurrency)}).`;
}

/** Known answers from which the length of others is told; the mean of fewer says little. */
const ENOUGH_ANSWERS = 20;

/** BBQ asks for one of three short answers. */
const BBQ_ANSWER = 15;

/** A paragraph or two. */
const FREE_ANSWER = 200;

/**
 * How many tokens one answer of a part takes.
 *
 * The ceiling is `maxTokens`. Expected is the mean of the known answers where
 * there are at least 20, and low their lower quartile; otherwise 15 for BBQ and
 * 200 for everything else are expected, and half of that is low. None is above the ceiling.
 * @param template the part's name; BBQ's start with `bbq`
 * @param known output tokens of answers of the same kind
 */
function answerTokens(template: string, known: readonly number[], maxTokens: number): EstimateRange {
  const expected = expectedTokens(template, known);
  const low = known.length < ENOUGH_ANSWERS ? expected / 2 : quantileSorted(Float64Array.from(known).sort(), 0.25);
  return {
    low: Math.min(low, expected, maxTokens),
    expected: Math.min(expected, maxTokens),
    ceiling: maxTokens,
  };
}

function expectedTokens(template: string, known: readonly number[]): number {
  if (known.length >= ENOUGH_ANSWERS) return known.reduce((sum, tokens) => sum + tokens, 0) / known.length;
  return /^bbq/i.test(template) ? BBQ_ANSWER : FREE_ANSWER;
}

/** The range of so many answers, in whole tokens. */
function timesRange(answer: EstimateRange, count: number): EstimateRange {
  return Object.freeze({
    low: Math.floor(answer.low * count),
    expected: Math.round(answer.expected * count),
    ceiling: Math.ceil(answer.ceiling * count),
  });
}

/** Ranges added end by end. */
function sumRanges(ranges: readonly EstimateRange[]): EstimateRange {
  const sum = (end: keyof EstimateRange): number => ranges.reduce((total, range) => total + range[end], 0);
  return Object.freeze({ low: sum('low'), expected: sum('expected'), ceiling: sum('ceiling') });
}

/** An answer that a part of the plan needs. */
export interface PlannedRequest {
  /** What tells requests apart: what has the same key shares the answer. */
  readonly key: string;
  readonly prompt: string;
  /** Whether a request before this one, of this part or another, has its key. */
  readonly isShared: boolean;
  /** Whether the answer is known. */
  readonly isCached: boolean;
}

/** One template of one evaluator, and the answers that it needs. */
export interface PlannedPart {
  readonly evaluator: string;
  /** Its name; BBQ's start with `bbq`, which makes short answers expected. */
  readonly template: string;
  readonly requests: readonly PlannedRequest[];
  /**
   * Output tokens of known answers to prompts of this part.
   * @defaultValue those of the whole plan
   */
  readonly knownOutputTokens?: readonly number[] | undefined;
}

/** What {@link buildEstimate} goes by. */
export interface EstimateInput {
  readonly parts: readonly PlannedPart[];
  readonly model: string;
  /** null where it is not known. */
  readonly price: ListedPrice | null;
  /** Tokens that an answer may have, as the request says. */
  readonly maxTokens: number;
  /**
   * Said before every prompt.
   * @defaultValue null
   */
  readonly systemPrompt?: string | null | undefined;
  /**
   * Output tokens of known answers of the model to prompts like these.
   * @defaultValue none
   */
  readonly knownOutputTokens?: readonly number[] | undefined;
  /** @defaultValue none */
  readonly limits?: RunLimits | undefined;
  /**
   * Metrics that can only end undefined.
   * @defaultValue none
   */
  readonly undefinedMetrics?: readonly UndefinedMetric[] | undefined;
}

/**
 * What a plan would send, and what that may take.
 *
 * An answer that several prompts need is asked for once: it counts for the
 * first part that needs it, and as shared in the others. Input tokens are
 * estimated by {@link estimateTokens}, with 8 for the frame of a request and the
 * system prompt where there is one. Output tokens are a range: at most
 * `maxTokens` an answer; expected is the mean of the known answers where there are
 * 20 of the part or else of the plan, 15 for BBQ and 200 for others without; low is the lower quartile
 * of the known answers, or half of what is expected. The cost takes the
 * range of the output and the one estimate of the input; repeated attempts cost
 * what they cost on top. `planDigest` is the SHA-256 of the keys to be sent, sorted
 * and joined by line feeds.
 * @throws {ValueError} where `maxTokens` is not a whole number of at least 1
 */
export function buildEstimate(input: EstimateInput): DryRunEstimate {
  requireWhole('maxTokens', input.maxTokens, 1);
  const breakdown = input.parts.map((part) => countPart(part, input));
  const needed = input.parts.flatMap(({ requests }) => requests.filter(({ isShared }) => !isShared));
  const keysToSend = needed.filter(({ isCached }) => !isCached).map(({ key }) => key);
  const inputTokens = breakdown.reduce((sum, part) => sum + part.inputTokens, 0);
  const outputTokens = sumRanges(breakdown.map((part) => part.outputTokens));
  const costUsd = costRange(input.price, inputTokens, outputTokens);
  const tokens = sumRanges([outputTokens, { low: inputTokens, expected: inputTokens, ceiling: inputTokens }]);
  const fields: DryRunFields = {
    requestCount: keysToSend.length,
    cachedCount: needed.length - keysToSend.length,
    estimatedInputTokens: inputTokens,
    estimatedOutputTokens: outputTokens,
    estimatedCostUsd: costUsd,
    breakdown: Object.freeze(breakdown),
    price: input.price,
    planDigest: createHash('sha256')
      .update([...keysToSend].sort().join('\n'))
      .digest('hex'),
    limits: limitSentences(input.limits ?? {}, { requests: keysToSend.length, tokens, costUsd }),
    undefinedMetrics: Object.freeze([...(input.undefinedMetrics ?? [])]),
    model: input.model,
  };
  return Object.freeze({ ...fields, toMarkdown: () => dryRunMarkdown(fields) });
}

function countPart(part: PlannedPart, input: EstimateInput): DryRunPart {
  const own = part.requests.filter(({ isShared }) => !isShared);
  const toSend = own.filter(({ isCached }) => !isCached);
  const tokensOf = requestTokens(input.systemPrompt ?? null);
  return Object.freeze({
    evaluator: part.evaluator,
    template: part.template,
    planned: part.requests.length,
    shared: part.requests.length - own.length,
    cached: own.length - toSend.length,
    requests: toSend.length,
    inputTokens: toSend.reduce((sum, { prompt }) => sum + tokensOf(prompt), 0),
    outputTokens: timesRange(answerTokens(part.template, knownOf(part, input), input.maxTokens), toSend.length),
  });
}

/** The part's own answers where they are enough, else the plan's. */
function knownOf(part: PlannedPart, input: EstimateInput): readonly number[] {
  const own = part.knownOutputTokens ?? [];
  return own.length >= ENOUGH_ANSWERS ? own : (input.knownOutputTokens ?? []);
}

function costRange(price: ListedPrice | null, inputTokens: number, output: EstimateRange): EstimateRange | null {
  const cost = (end: keyof EstimateRange): number | null => costOf(price, inputTokens, output[end]);
  const [low, expected, ceiling] = [cost('low'), cost('expected'), cost('ceiling')];
  return low === null || expected === null || ceiling === null ? null : Object.freeze({ low, expected, ceiling });
}
