import type { OptionNames } from '../../internal/arguments.ts';
import type { LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';

/** Why an answer ended. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'refusal' | 'other';

/** What an answer took, as the provider counts. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One answer of a model. */
export interface Completion {
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Whether the provider itself says that this is a refusal; left out where it does not say. */
  readonly isRefusal?: boolean | undefined;
  /** null where the provider does not say. */
  readonly usage: TokenUsage | null;
  /** Whether it was known already, so that nothing was sent. */
  readonly cached: boolean;
  readonly latencyMillis: number;
}

/** What goes along with a prompt. */
export interface CompletionOptions {
  /** @defaultValue none */
  readonly params?: LLMParams | undefined;
  /**
   * Which of several answers to the same prompt this is, from 0; part of the cache's key.
   * @defaultValue 0
   */
  readonly repeat?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link CompletionOptions}. */
export const COMPLETION_OPTION_NAMES: OptionNames<CompletionOptions> = { params: true, repeat: true, signal: true };

/** Something that answers prompts. */
export interface LLMClient {
  /** Tells one model from another in cache keys and transcripts: provider, address and model. Without secrets. */
  readonly id: string;
  /**
   * Answers one prompt; one attempt, unless the client says otherwise.
   * @throws {LLMClientError} whose context is a {@link ClientFault}
   * @throws {CacheMissError} where only known answers may be given
   */
  complete(prompt: string, options?: CompletionOptions): Promise<Completion>;
}

/** What went wrong with a request. */
export type FaultKind =
  /** The key is missing, wrong or not allowed (401, 403). */
  | 'auth'
  /** There is no such model or address (404). */
  | 'not_found'
  /** This one request is refused as it is (400, 413, 422). */
  | 'bad_request'
  /** Too many requests for now (429). */
  | 'rate_limit'
  /** The account's quota or credit is used up (429 with insufficient_quota, 402). */
  | 'quota'
  /** 500 to 599, 408, 409. */
  | 'server'
  | 'timeout'
  /** The connection failed or was cut. */
  | 'network'
  /** The answer is not what the provider promises. */
  | 'malformed'
  | 'cancelled'
  /** A function of the user's threw. */
  | 'function';

/** The context of an LLMClientError. */
export interface ClientFault {
  readonly kind: FaultKind;
  /** null where no answer came. */
  readonly status: number | null;
  /** Whether another attempt may succeed. */
  readonly isRetryable: boolean;
  /** Whether every other request would fail alike, so that a run should stop. */
  readonly isFatal: boolean;
  /** How long the server asks to wait; null where it does not. */
  readonly retryAfterMillis: number | null;
}
