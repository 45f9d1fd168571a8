import { invalidParameter } from '../../internal/invalid-parameter.ts';
import type { OptionNames } from '../../internal/known-options.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { requireWhole } from '../../stats/parameters.ts';
import type { LLMClient } from '../client/llm-client.ts';
import type { LLMRequest } from '../plan/llm-request.ts';
import type { AnswerRecord } from '../transcript/transcript.ts';
import { type BudgetLimits, type RunLimits, type RunPrice, toBudgetLimits, type TokenCeiling } from './budget.ts';
import { MACHINE_CLOCK, type SchedulerClock } from './clock.ts';
import { RETRY_OPTION_NAMES, type RetryOptions, type RetrySettings, toRetrySettings } from './retry-policy.ts';

/** Options of {@link runRequests}. */
export interface RunRequestsOptions extends RetryOptions {
  readonly client: LLMClient;
  /** What a request takes at most; needed for limits, and for answers whose tokens are not told. */
  readonly estimateTokens: (request: LLMRequest) => TokenCeiling;
  /** Takes what came of a request; no other starts in its place before the promise is kept. If it is broken, the run ends. */
  readonly onAnswer: (record: AnswerRecord) => Promise<void> | void;
  /**
   * Requests under way at the same time.
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * How long one attempt may take.
   * @defaultValue 60_000
   */
  readonly timeoutMillis?: number | undefined;
  /** @defaultValue no limits */
  readonly limits?: RunLimits | undefined;
  /** @defaultValue null: not known */
  readonly price?: RunPrice | null | undefined;
  /** Called when a request has its answer or is given up. */
  readonly onProgress?: OnProgress | undefined;
  /** Ends the run: what is under way is cancelled, what was answered is kept. */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue the machine's */
  readonly clock?: SchedulerClock | undefined;
  /**
   * Of the random part of waits.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link RunRequestsOptions}. */
export const RUN_REQUESTS_OPTION_NAMES: OptionNames<RunRequestsOptions> = {
  ...RETRY_OPTION_NAMES,
  client: true,
  estimateTokens: true,
  onAnswer: true,
  concurrency: true,
  timeoutMillis: true,
  limits: true,
  price: true,
  onProgress: true,
  signal: true,
  clock: true,
  seed: true,
};

/** {@link RunRequestsOptions} with every default filled in. */
export interface RunSettings {
  readonly client: LLMClient;
  readonly estimateTokens: (request: LLMRequest) => TokenCeiling;
  readonly onAnswer: (record: AnswerRecord) => Promise<void> | void;
  readonly concurrency: number;
  readonly timeoutMillis: number;
  readonly limits: BudgetLimits;
  readonly price: RunPrice | null;
  readonly onProgress: OnProgress | undefined;
  readonly signal: AbortSignal | undefined;
  readonly clock: SchedulerClock;
  readonly seed: number;
  readonly retry: RetrySettings;
}

/**
 * Checks options and fills in what they leave out.
 * @throws {ValueError} for one out of range
 */
export function toRunSettings(options: RunRequestsOptions): RunSettings {
  const { client, estimateTokens, onAnswer, onProgress, signal } = options;
  const price = options.price ?? null;
  if (typeof (client as Partial<LLMClient> | undefined)?.complete !== 'function') {
    throw invalidParameter('client', 'have a method complete', typeof client);
  }
  requireFunction('estimateTokens', estimateTokens);
  requireFunction('onAnswer', onAnswer);
  return {
    client,
    estimateTokens,
    onAnswer,
    concurrency: requireWhole('concurrency', options.concurrency ?? 4, 1),
    timeoutMillis: requireWhole('timeoutMillis', options.timeoutMillis ?? 60_000, 1),
    limits: toBudgetLimits(options.limits ?? {}, price),
    price,
    onProgress,
    signal,
    clock: options.clock ?? MACHINE_CLOCK,
    seed: requireWhole('seed', options.seed ?? 42, Number.MIN_SAFE_INTEGER),
    retry: toRetrySettings(options),
  };
}

function requireFunction(parameter: string, given: unknown): void {
  if (typeof given !== 'function') throw invalidParameter(parameter, 'be a function', typeof given);
}
