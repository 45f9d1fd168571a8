import { createHash } from 'node:crypto';

import { requireWhole } from '../../stats/parameters.ts';
import type { DryRunEstimate, DryRunFields, DryRunPart, EstimateRange, UndefinedMetric } from './dry-run-estimate.ts';
import { dryRunMarkdown } from './dry-run-markdown.ts';
import { requestTokens } from './request-tokens.ts';
import type { ListedPrice } from './model-prices.ts';
import { answerTokens, ENOUGH_ANSWERS, sumRanges, timesRange } from './output-tokens.ts';
import { costOf } from './price-of.ts';
import { limitSentences, type RunLimits } from './run-limits.ts';

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
