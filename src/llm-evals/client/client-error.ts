import { LLMClientError } from '../../exceptions/index.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import type { ClientFailure, FailureKind, TokenUsage } from './llm-client.ts';

/** Returns the fields of a parsed object; undefined if it is not an object. */
export function fieldsOf(value: unknown): Mapping | undefined {
  return isMapping(value) ? value : undefined;
}

/** Returns the value if it is a string, else ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The maximum token count of a request. A larger count is treated as invalid, because it would exceed every budget. */
const MAX_TOKENS = 1e9;

/** Returns whether a value is a finite number of at least 0. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Returns the usage for two token counts, or null if one of the counts is not valid. */
export function usageOf(input: unknown, output: unknown): TokenUsage | null {
  const [inputTokens, outputTokens] = [countOf(input), countOf(output)];
  return inputTokens === undefined || outputTokens === undefined ? null : { inputTokens, outputTokens };
}

/** Returns the value if it is a valid token count, else undefined. */
export function countOf(value: unknown): number | undefined {
  return isTokenAmount(value) && Number.isInteger(value) ? value : undefined;
}

/** Returns whether a value can be a number of tokens. Estimates may have a fraction. */
export function isTokenAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS;
}

/** Joins the texts of all text blocks in a list of content blocks. */
export function joinTexts(blocks: readonly unknown[]): string {
  return blocks
    .map((block) => {
      const fields = fieldsOf(block);
      return fields?.['type'] === 'text' ? textOf(fields['text']) : '';
    })
    .join('');
}

/** A call of a tool in an answer. */
export interface ToolCall {
  readonly name: unknown;
  /** The arguments: JSON as a text, or the value itself. */
  readonly input: unknown;
}

/**
 * Joins the text of an answer and its calls of tools. A call is written as text, such as `[tool call] name({"a":1})`,
 * so that an answer that only calls a tool is not empty.
 */
export function withToolCalls(text: string, calls: readonly ToolCall[]): string {
  const written = calls.map(({ name, input }) => {
    const given = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    return `[tool call] ${textOf(name)}(${given})`;
  });
  return [...(text === '' ? [] : [text]), ...written].join('\n');
}

/** Returns the items of a list that are objects; an empty list if the value is not a list. */
export function objectsIn(value: unknown): readonly Mapping[] {
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

/** The details of an error, except its kind. */
export interface FailureDetails extends Partial<Omit<ClientFailure, 'kind'>> {
  readonly suggestion?: string | undefined;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set(['rate_limit', 'server', 'timeout', 'network']);
const FATAL: ReadonlySet<FailureKind> = new Set(['auth', 'not_found', 'quota']);

/**
 * Creates the error of a request. The context of the error is a complete {@link ClientFailure}. Defaults depend on the
 * kind of the error.
 */
export function clientError(kind: FailureKind, message: string, details: FailureDetails = {}): LLMClientError {
  const problem: ClientFailure = {
    kind,
    status: details.status ?? null,
    isRetryable: details.isRetryable ?? RETRYABLE.has(kind),
    isFatal: details.isFatal ?? FATAL.has(kind),
    retryAfterMillis: details.retryAfterMillis ?? null,
  };
  return new LLMClientError(message, {
    context: { ...problem },
    suggestion: details.suggestion ?? SUGGESTIONS[kind],
    ...(details.cause === undefined ? {} : { cause: details.cause }),
  });
}

/** Creates the error of a request that its caller cancelled. */
export function cancelledError(id: string): LLMClientError {
  return clientError('cancelled', `The request to ${id} was cancelled.`);
}

/** @throws {LLMClientError} of kind `cancelled` if the caller has already cancelled */
export function refuseCancelled(id: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelledError(id);
}

const SUGGESTIONS: Readonly<Record<FailureKind, string>> = {
  auth: 'Check that the key in the environment is correct and has access to this model.',
  not_found: 'Check the model and the base_url.',
  bad_request: 'Check the params and the prompt. Requests with other prompts may succeed.',
  rate_limit: 'Retry later, or lower the concurrency.',
  quota: "Check the account's plan and billing. Answers already received are kept.",
  server: 'Retry later. The error is on the server.',
  timeout: 'Retry, or increase timeout_ms.',
  network: 'Check the connection and the base_url.',
  malformed: "Check that the base_url is the address of the provider's API.",
  cancelled: 'Retry if needed.',
  function: 'See the cause of the error. The function must return a text for every prompt.',
};
