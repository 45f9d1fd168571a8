import type { ApiAccess } from '../access.ts';
import { countOf, fieldsOf, joinTexts, textOf, usageOf } from '../client-error.ts';
import type { FinishReason, LLMClient, TokenUsage } from '../llm-client.ts';
import { type ApiDialect, createApiClient, type ReadAnswer } from './api-client.ts';

/** The API version whose answers are read here. */
const API_VERSION = '2023-06-01';

/** The default of `max_tokens`, which this API requires in every request. */
const DEFAULT_MAX_TOKENS = 1024;

/**
 * Creates a client of Anthropic's messages API.
 *
 * `max_tokens` is {@link DEFAULT_MAX_TOKENS} by default. The texts of an answer's blocks are joined. An answer without
 * text, such as a tool call, is ''. Input tokens include those read from or written to the provider's cache.
 */
export function createAnthropicClient(access: ApiAccess): LLMClient {
  const { id, baseUrl, key, env, keyVariable, timeoutMillis, model } = access;
  const headers = { 'anthropic-version': API_VERSION, ...(key === null ? {} : { 'x-api-key': key }) };
  const address = `${baseUrl}/messages`;
  const dialect: ApiDialect = {
    write: (prompt, { system, maxTokens, rest }) => ({
      ...rest,
      max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
      ...(system === null ? {} : { system }),
      model,
      messages: [{ role: 'user', content: prompt }],
    }),
    read: readMessage,
  };
  return createApiClient({ id, address, headers, env, keyVariable, timeoutMillis }, key !== null, dialect);
}

function readMessage(fields: Readonly<Record<string, unknown>>): ReadAnswer | undefined {
  const content = fields['content'];
  if (!Array.isArray(content)) return undefined;
  const finishReason = FINISH_REASONS.get(textOf(fields['stop_reason'])) ?? 'other';
  return {
    text: joinTexts(content),
    finishReason,
    ...(finishReason === 'refusal' ? { isRefusal: true } : {}),
    usage: readUsage(fields['usage']),
  };
}

/** A map, because an object would have values for keys of a server such as `constructor`. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refusal'],
]);

function readUsage(given: unknown): TokenUsage | null {
  const fields = fieldsOf(given);
  const parts = [
    fields?.['input_tokens'],
    fields?.['cache_creation_input_tokens'] ?? 0,
    fields?.['cache_read_input_tokens'] ?? 0,
  ].map(countOf);
  const inputTokens = parts.reduce<number>((sum, part) => sum + (part ?? NaN), 0);
  return usageOf(inputTokens, fields?.['output_tokens']);
}
