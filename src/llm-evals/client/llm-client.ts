import type { OptionNames } from '../../internal/arguments.ts';
import type { LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';

/** The reasons why a model ends an answer. */
export const FINISH_REASONS = ['stop', 'length', 'content_filter', 'refusal', 'other'] as const;

/** The reason why a model ended an answer. */
export type FinishReason = (typeof FINISH_REASONS)[number];

/** The token usage of an answer, as counted by the provider. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One answer of a model. */
export interface Completion {
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Whether the provider flags the answer as a refusal. Omitted if the provider does not report this. */
  readonly isRefusal?: boolean | undefined;
  /** The token usage; null if the provider does not report the usage. */
  readonly usage: TokenUsage | null;
  /** Whether the answer was cached or recorded, so that no request was sent. */
  readonly cached: boolean;
  readonly latencyMillis: number;
  /**
   * The answers to the earlier turns of a conversation, in a cached answer. Clients do not set this field, because they
   * answer one turn.
   */
  readonly turns?: readonly string[] | undefined;
}

/** A message of a conversation. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Options sent with a prompt. */
export interface CompletionOptions {
  /**
   * The conversation to answer: messages of the user and the assistant, ending with a message of the user. A system
   * message may come first. The prompt is then a readable text of the conversation, for clients that do not support
   * messages.
   * @defaultValue the prompt as one message of the user
   */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** @defaultValue none */
  readonly params?: LLMParams | undefined;
  /**
   * The index of the answer, from 0, if several answers to the same prompt are requested. Part of the cache key.
   * @defaultValue 0
   */
  readonly repeat?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link CompletionOptions}. */
export const COMPLETION_OPTION_NAMES: OptionNames<CompletionOptions> = {
  messages: true,
  params: true,
  repeat: true,
  signal: true,
};

/** A client that answers prompts. */
export interface LLMClient {
  /**
   * Identifies the model in cache keys and transcripts. Contains the provider, the address and the model. Contains no
   * secrets.
   */
  readonly id: string;
  /**
   * Answers one prompt. Makes one attempt, unless the client documents otherwise.
   * @throws {LLMClientError} whose context is a {@link ClientFailure}
   * @throws {CacheMissError} if only cached or recorded answers may be returned
   */
  complete(prompt: string, options?: CompletionOptions): Promise<Completion>;
}

/** The kinds of failures of requests. */
export type FailureKind =
  /** The key is missing, wrong or not allowed (401, 403). */
  | 'auth'
  /** There is no such model or address (404). */
  | 'not_found'
  /** The request is invalid (400, 413, 422). */
  | 'bad_request'
  /** Too many requests were sent in a short time (429). */
  | 'rate_limit'
  /** The account's quota or credit is used up (429 with insufficient_quota, 402). */
  | 'quota'
  /** The server failed (500 to 599, 408, 409). */
  | 'server'
  | 'timeout'
  /** The connection failed or was interrupted. */
  | 'network'
  /** The answer does not have the format that the provider documents. */
  | 'malformed'
  | 'cancelled'
  /** A user function threw an error, or a program failed. */
  | 'function';

/** The context of an LLMClientError. */
export interface ClientFailure {
  readonly kind: FailureKind;
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Whether another attempt may succeed. */
  readonly isRetryable: boolean;
  /** Whether all other requests would fail too. A run then stops. */
  readonly isFatal: boolean;
  /** The waiting time that the server requests, in milliseconds; null if the server requests none. */
  readonly retryAfterMillis: number | null;
}
