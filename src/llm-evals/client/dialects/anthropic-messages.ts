import type { Mapping } from '../../../internal/values.ts';
import { countOf, fieldsOf, joinTexts, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason, TokenUsage } from '../llm-client.ts';
import type { ApiDialect, ReadAnswer } from './api-dialect.ts';

/** The version of Anthropic's API that this client supports. */
const API_VERSION = '2023-06-01';

/** The default of `max_tokens`, which Anthropic's API requires in every request. */
const DEFAULT_MAX_TOKENS = 1024;

/**
 * Anthropic's messages API.
 *
 * `max_tokens` is {@link DEFAULT_MAX_TOKENS} by default. The texts of an answer's blocks are joined. Input tokens
 * include tokens that are read from or written to the provider's cache.
 * @see https://docs.anthropic.com/en/api/messages
 */
export const ANTHROPIC_MESSAGES: ApiDialect = {
  path: () => '/messages',
  headers: ({ key }) => ({ 'anthropic-version': API_VERSION, ...(key === null ? {} : { 'x-api-key': key }) }),
  write: ({ model }, { system, messages, maxTokens, rest }) => ({
    ...rest,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system === null ? {} : { system }),
    model,
    messages,
  }),
  read: readMessage,
};

function readMessage(fields: Mapping): ReadAnswer | undefined {
  const content = fields['content'];
  if (!Array.isArray(content)) return undefined;
  const finishReason = MESSAGE_FINISH_REASONS.get(textOf(fields['stop_reason'])) ?? 'other';
  const calls = objectsIn(content).filter(({ type }) => type === 'tool_use');
  return {
    text: withToolCalls(joinTexts(content), calls.map(({ name, input }) => ({ name, input }))), // prettier-ignore
    finishReason,
    ...(finishReason === 'refusal' ? { isRefusal: true } : {}),
    usage: readUsage(fields['usage']),
  };
}

/** A map, because an object also has inherited properties such as `constructor`. */
const MESSAGE_FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
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
