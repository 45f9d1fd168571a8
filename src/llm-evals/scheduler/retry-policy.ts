import { FairnessToolkitError, LLMClientError } from '../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { Random } from '../../internal/random.ts';
import { backoffMillis } from '../../internal/retry.ts';
import { messageOf } from '../../internal/values.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { clientError } from '../client/client-error.ts';
import type { ClientFailure, FailureKind } from '../client/llm-client.ts';

/** Options for retries. */
export interface RetryOptions {
  /**
   * The number of retries after transient failures (5xx, timeouts, lost connections, responses that cannot be parsed).
   * @defaultValue 3
   */
  readonly retries?: number | undefined;
  /**
   * The number of 429 responses ("too many requests") after which a request fails. These responses are counted
   * separately, because all requests share the rate limit of the server.
   * @defaultValue 10
   */
  readonly rateLimitTries?: number | undefined;
  /**
   * The wait before the first retry, in milliseconds. The wait doubles with each retry.
   * @defaultValue 1000
   */
  readonly baseMillis?: number | undefined;
  /**
   * The maximum wait, in milliseconds. If the server asks for a longer wait, the longer wait is used. If the server
   * asks for more than an hour, the request fails.
   * @defaultValue 60_000
   */
  readonly capMillis?: number | undefined;
}

/** Lists the options of {@link RetryOptions}. */
export const RETRY_OPTION_NAMES: OptionNames<RetryOptions> = {
  retries: true,
  rateLimitTries: true,
  baseMillis: true,
  capMillis: true,
};

/** {@link RetryOptions} with every default filled in. */
export type RetrySettings = Readonly<Record<keyof RetryOptions, number>>;

/** The maximum wait that a server may ask for. */
const MAX_ASKED_MILLIS = 3_600_000;

/** Returns whether a server asks for a wait of more than an hour. */
export function asksTooLong(problem: ClientFailure): problem is ClientFailure & { readonly retryAfterMillis: number } {
  return problem.isRetryable && problem.retryAfterMillis !== null && problem.retryAfterMillis > MAX_ASKED_MILLIS;
}

/** The range of the random factor that varies waits by 20%. */
const JITTER = { min: 0.8, max: 1.2 };

/**
 * Returns options with their defaults filled in.
 * @throws {ValueError} if an option is out of range
 */
export function toRetrySettings(options: RetryOptions): RetrySettings {
  const baseMillis = options.baseMillis ?? 1000;
  const capMillis = options.capMillis ?? 60_000;
  if (!(baseMillis > 0 && baseMillis < Infinity)) throw invalidParameter('baseMillis', 'be above 0', baseMillis);
  if (!(capMillis >= baseMillis && capMillis < Infinity)) {
    throw invalidParameter('capMillis', `be at least baseMillis = ${String(baseMillis)}`, capMillis);
  }
  return {
    retries: requireInteger('retries', options.retries ?? 3, 0),
    rateLimitTries: requireInteger('rateLimitTries', options.rateLimitTries ?? 10, 1),
    baseMillis,
    capMillis,
  };
}

/** Counts the attempts of one request and decides whether and when to retry. */
export class RetryPolicy {
  readonly #settings: RetrySettings;
  readonly #random: Random;
  #problems = 0;
  #rateLimits = 0;

  constructor(settings: RetrySettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
  }

  /**
   * Returns the wait before the next attempt, in milliseconds. If the server asks for a wait, this wait is returned.
   * Otherwise, the wait is `baseMillis` x 2^k with 20% jitter, at most `capMillis`. k is the number of earlier
   * failures. Rate limits are counted separately.
   * @returns null if the request is not retried, for example because the server asks to wait more than an hour
   */
  waitAfter(problem: ClientFailure): number | null {
    const { kind, isRetryable, retryAfterMillis } = problem;
    if (!isRetryable || asksTooLong(problem)) return null;
    const isRateLimit = kind === 'rate_limit';
    const before = isRateLimit ? this.#rateLimits++ : this.#problems++;
    const isGivenUp = isRateLimit
      ? this.#rateLimits >= this.#settings.rateLimitTries
      : before >= this.#settings.retries;
    if (isGivenUp) return null;
    if (retryAfterMillis !== null) return Math.max(0, retryAfterMillis);
    const { baseMillis, capMillis } = this.#settings;
    return backoffMillis(before, { baseMillis, capMillis, jitter: { ...JITTER, random: this.#random } });
  }
}

/**
 * Returns the failure that a client's error describes. Errors of other packages come from a user function and are not
 * retried.
 * @returns undefined for other errors of this package, such as a cache miss or an invalid parameter, which affect the
 * complete run
 */
export function problemOf(error: unknown): ClientFailure | undefined {
  if (!FairnessToolkitError.isInstance(error)) return failureOfKind('function');
  if (error instanceof LLMClientError || error.name === 'LLMClientError') {
    return { ...failureOfKind('function'), ...error.context };
  }
  return undefined;
}

/** Returns the message of a thrown value with a full stop. */
export function sentenceOf(error: unknown): string {
  return messageOf(error).replace(/(?<![.!?])$/, '.');
}

/** Formats a time for messages, in seconds, such as '90 s'. The time is rounded up. */
export function inSeconds(millis: number): string {
  return `${Math.ceil(millis / 1000).toLocaleString('en-US')} s`;
}

/**
 * If the server asks for a wait of more than an hour, returns an error that says so. Returns other errors unchanged.
 */
export function withLongWait(error: unknown, problem: ClientFailure): unknown {
  if (!asksTooLong(problem)) return error;
  return new LLMClientError(
    `${sentenceOf(error)} The server asks to wait ${inSeconds(problem.retryAfterMillis)}; waits of more than an hour are not supported.`,
    {
      context: { ...problem },
      suggestion: 'Run the evaluation again after that time. Answers received so far are kept.',
      cause: error,
    },
  );
}

/** Returns the error for a call that exceeded its time limit. */
export function timeoutError(millis: number): LLMClientError {
  const suggestion = 'Allow more time with timeout_ms, or ask for shorter answers with max_tokens.';
  return clientError('timeout', `No answer was received within ${String(millis / 1000)} s.`, { suggestion });
}

/** Returns the error for a call that was cancelled. */
export function cancelledError(): LLMClientError {
  return new LLMClientError('The call was cancelled.', { context: { ...failureOfKind('cancelled') } });
}

/** Returns the error for a completion without text. */
export function malformedError(given: unknown): LLMClientError {
  const found = given === null ? 'null' : typeof given;
  return clientError('malformed', `The client returned ${found} instead of a completion with text.`, {
    suggestion: 'Return an object with text, finishReason, usage, cached and latencyMillis.',
  });
}

function failureOfKind(kind: FailureKind): ClientFailure {
  return { kind, status: null, isRetryable: false, isFatal: false, retryAfterMillis: null };
}
