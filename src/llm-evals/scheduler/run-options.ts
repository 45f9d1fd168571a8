import { type FilledOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { LLMClient } from '../client/llm-client.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import {
  type BudgetLimits,
  type RunLimits,
  type RunPrice,
  type SpentBudget,
  type StopReason,
  toBudgetLimits,
  type TokenCeiling,
} from './budget.ts';
import { MACHINE_CLOCK, type SchedulerClock } from './clock.ts';
import { RETRY_OPTION_NAMES, type RetryOptions, type RetrySettings, toRetrySettings } from './retry-policy.ts';

/** Options of {@link runRequests}. */
export interface RunRequestsOptions extends RetryOptions {
  readonly client: LLMClient;
  /**
   * Returns the client of a request, if the requests are for several models.
   * @defaultValue `client` for every request
   */
  readonly clientOf?: ((request: LLMRequest) => LLMClient) | undefined;
  /**
   * Estimates the maximum tokens of a request. The estimate is compared with the limits, and is counted for answers
   * without token counts.
   */
  readonly estimateTokens: (request: LLMRequest) => TokenCeiling;
  /**
   * Receives the record of a request. The worker that sent the request waits until the promise is fulfilled. If the
   * promise is rejected, the run ends.
   */
  readonly onAnswer: (record: AnswerRecord) => Promise<void> | void;
  /**
   * The maximum number of requests in flight.
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * The time limit of one attempt, in milliseconds.
   * @defaultValue 60_000
   */
  readonly timeoutMillis?: number | undefined;
  /** @defaultValue no limits */
  readonly limits?: RunLimits | undefined;
  /** @defaultValue null, unknown */
  readonly price?: RunPrice | null | undefined;
  /** Called after each request that was answered or failed. */
  readonly onProgress?: OnProgress | undefined;
  /** Ends the run. Requests in flight are cancelled, and answers received so far are kept. */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue the system clock */
  readonly clock?: SchedulerClock | undefined;
  /**
   * The seed of the random jitter of waits.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link RunRequestsOptions}. */
export const RUN_REQUESTS_OPTION_NAMES: OptionNames<RunRequestsOptions> = {
  ...RETRY_OPTION_NAMES,
  client: true,
  clientOf: true,
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
export interface RunSettings extends Omit<
  FilledOptions<RunRequestsOptions, 'onProgress' | 'signal'>,
  keyof RetryOptions | 'limits' | 'client' | 'clientOf'
> {
  readonly clientOf: (request: LLMRequest) => LLMClient;
  readonly limits: BudgetLimits;
  readonly retry: RetrySettings;
}

/**
 * Checks options and fills in the defaults.
 * @throws {ValueError} if an option is out of range
 */
export function toRunSettings(options: RunRequestsOptions): RunSettings {
  const { client, estimateTokens, onAnswer, onProgress, signal } = options;
  const price = options.price ?? null;
  const { clientOf = () => client } = options;
  if (typeof (client as Partial<LLMClient> | undefined)?.complete !== 'function') {
    throw invalidParameter('client', 'have a method complete', typeof client);
  }
  requireFunction('estimateTokens', estimateTokens);
  requireFunction('onAnswer', onAnswer);
  return {
    ...{ clientOf, estimateTokens, onAnswer, onProgress, signal, price },
    concurrency: requireInteger('concurrency', options.concurrency ?? 4, 1),
    timeoutMillis: requireInteger('timeoutMillis', options.timeoutMillis ?? 60_000, 1),
    limits: toBudgetLimits(options.limits ?? {}, price),
    clock: options.clock ?? MACHINE_CLOCK,
    seed: requireInteger('seed', options.seed ?? 42, Number.MIN_SAFE_INTEGER),
    retry: toRetrySettings(options),
  };
}

function requireFunction(parameter: string, given: unknown): void {
  if (typeof given !== 'function') throw invalidParameter(parameter, 'be a function', typeof given);
}

/** The result of {@link runRequests}; frozen. */
export interface RunSummary extends SpentBudget {
  /** The number of attempts after the first attempt of a request. */
  readonly retries: number;
  /** The number of requests with an answer. */
  readonly answered: number;
  /** The number of requests that failed and were not retried again. */
  readonly failed: number;
  /**
   * The number of requests without an outcome because the run was stopped. Attempts may have been made for some of
   * them.
   */
  readonly notSent: number;
  readonly seconds: number;
  /** The reason why the run ended early; null if the run completed. */
  readonly stopped: StopReason | null;
  /** The maximum number of attempts that were in flight at the same time. */
  readonly maxConcurrent: number;
  /** The number of responses with "too many requests" (429). */
  readonly rateLimited: number;
  /** The message of the last failed attempt, without secrets; null if no attempt failed. */
  readonly lastFailure: string | null;
}
