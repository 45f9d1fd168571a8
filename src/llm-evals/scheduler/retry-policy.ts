import { FairnessToolkitError, LLMClientError } from '../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { Random } from '../../internal/random.ts';
import { requireWhole } from '../../stats/parameters.ts';
import type { ClientFault, FaultKind } from '../client/llm-client.ts';

/** How often a request is tried again, and after which waits. */
export interface RetryOptions {
  /**
   * Tries after the first, for faults that may pass (5xx, timeouts, cut connections, answers that cannot be read).
   * @defaultValue 3
   */
  readonly retries?: number | undefined;
  /**
   * How often one request may be told "too many requests" before it is given up. Counted apart: a limit that all
   * requests share is not a fault of this one.
   * @defaultValue 10
   */
  readonly rateLimitTries?: number | undefined;
  /**
   * The wait before the first retry; it doubles with each.
   * @defaultValue 1000
   */
  readonly baseMillis?: number | undefined;
  /**
   * The longest wait, but for one that the server asks for; that is an hour at most, and a request whose server asks
   * for more is given up.
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

/** A wait that a server asks for is not waited for where it is longer. */
const MAX_ASKED_MILLIS = 3_600_000;

/** Whether a server asks for a wait that nobody should sit through. */
export function asksTooLong(fault: ClientFault): fault is ClientFault & { readonly retryAfterMillis: number } {
  return fault.isRetryable && fault.retryAfterMillis !== null && fault.retryAfterMillis > MAX_ASKED_MILLIS;
}

/** Waits differ by up to this share, so that many clients do not come back at once. */
const JITTER = 0.2;

/**
 * Checks options and fills in what they leave out.
 * @throws {ValueError} for one out of range
 */
export function toRetrySettings(options: RetryOptions): RetrySettings {
  const baseMillis = options.baseMillis ?? 1000;
  const capMillis = options.capMillis ?? 60_000;
  if (!(baseMillis > 0 && baseMillis < Infinity)) throw invalidParameter('baseMillis', 'be above 0', baseMillis);
  if (!(capMillis >= baseMillis && capMillis < Infinity)) {
    throw invalidParameter('capMillis', `be at least baseMillis = ${String(baseMillis)}`, capMillis);
  }
  return {
    retries: requireWhole('retries', options.retries ?? 3, 0),
    rateLimitTries: requireWhole('rateLimitTries', options.rateLimitTries ?? 10, 1),
    baseMillis,
    capMillis,
  };
}

/** The tries of one request. */
export class RetryPolicy {
  readonly #settings: RetrySettings;
  readonly #random: Random;
  #faults = 0;
  #rateLimits = 0;

  constructor(settings: RetrySettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
  }

  /**
   * How long to wait before the next try: as long as the server asks, else
   * `baseMillis` x 2^k with 20% jitter, at most `capMillis`; k counts faults of
   * this kind from 0. null where the request is given up, which it also is where the server asks for more than an hour.
   */
  waitAfter(fault: ClientFault): number | null {
    const { kind, isRetryable, retryAfterMillis } = fault;
    if (!isRetryable || asksTooLong(fault)) return null;
    const isRateLimit = kind === 'rate_limit';
    const before = isRateLimit ? this.#rateLimits++ : this.#faults++;
    const isGivenUp = isRateLimit
      ? this.#rateLimits >= this.#settings.rateLimitTries
      : before >= this.#settings.retries;
    if (isGivenUp) return null;
    if (retryAfterMillis !== null) return Math.max(0, retryAfterMillis);
    const { baseMillis, capMillis } = this.#settings;
    const jitter = 1 + JITTER * (2 * this.#random.next() - 1);
    return Math.min(capMillis, baseMillis * 2 ** before * jitter);
  }
}

/**
 * What a client's error says about its request. An error of another kind is a
 * fault in a function of the user's: it is not tried again. undefined for our
 * own errors that are no client's (a miss in a cache, a wrong parameter), which
 * concern the whole run.
 */
export function faultOf(error: unknown): ClientFault | undefined {
  if (!FairnessToolkitError.isInstance(error)) return faultOfKind('function');
  if (error instanceof LLMClientError || error.name === 'LLMClientError') {
    return { ...faultOfKind('function'), ...error.context };
  }
  return undefined;
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What was thrown, as a sentence. */
export function sentenceOf(error: unknown): string {
  return messageOf(error).replace(/(?<![.!?])$/, '.');
}

/** A time as messages have it. */
export function inSeconds(millis: number): string {
  return `${Math.ceil(millis / 1000).toLocaleString('en-US')} s`;
}

/** The error of a request whose server asks for a wait that is not waited for; any other stays as it is. */
export function withLongWait(error: unknown, fault: ClientFault): unknown {
  if (!asksTooLong(fault)) return error;
  return new LLMClientError(
    `${sentenceOf(error)} The server asks to wait ${inSeconds(fault.retryAfterMillis)}, and longer than an hour is not waited for.`,
    { context: { ...fault }, suggestion: 'Ask again after that time; what is answered is kept.', cause: error },
  );
}

/** An error for a call that did not end in time. */
export function timeoutError(millis: number): LLMClientError {
  const context: ClientFault = { ...faultOfKind('timeout'), isRetryable: true };
  return new LLMClientError(`No answer came within ${String(millis / 1000)} s.`, {
    context: { ...context },
    suggestion: 'Allow more time with timeout_ms, or ask for shorter answers with max_tokens.',
  });
}

/** An error for a call that was stopped. */
export function cancelledError(): LLMClientError {
  const context: ClientFault = faultOfKind('cancelled');
  return new LLMClientError('The call was cancelled.', { context: { ...context } });
}

/** An error for an answer that is none. */
export function malformedError(given: unknown): LLMClientError {
  const context: ClientFault = faultOfKind('malformed');
  return new LLMClientError(`The client gave ${given === null ? 'null' : typeof given} where a text should be.`, {
    context: { ...context },
    suggestion: 'Give an object with text, finishReason, usage, cached and latencyMillis.',
  });
}

function faultOfKind(kind: FaultKind): ClientFault {
  return { kind, status: null, isRetryable: false, isFatal: false, retryAfterMillis: null };
}
