import type { ApiAccess } from '../access.ts';
import { countOf, fieldsOf, joinTexts, textOf } from '../client-error.ts';
import type { FinishReason, LLMClient, TokenUsage } from '../llm-client.ts';
import { type ApiDialect, createApiClient, type ReadAnswer } from './api-client.ts';

/**
 * A client of OpenAI's chat completions, or of a server that speaks the same.
 *
 * `max_tokens` is sent as `max_completion_tokens` to OpenAI, whose newer models
 * take nothing else, and by its own name to others, which mostly know only that.
 * An answer without a text, as of a tool's call, is ''.
 */
export function createOpenAiClient(access: ApiAccess): LLMClient {
  const { id, baseUrl, key, env, keyVariable, timeoutMillis, model, provider } = access;
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  const endpoint = { id, address: `${baseUrl}/chat/completions`, headers, env, keyVariable, timeoutMillis };
  const limitName = provider === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  const dialect: ApiDialect = {
    write: (prompt, { system, maxTokens, rest }) => ({
      ...rest,
      ...(maxTokens === null ? {} : { [limitName]: maxTokens }),
      model,
      messages: [...(system === null ? [] : [{ role: 'system', content: system }]), { role: 'user', content: prompt }],
    }),
    read: readChatCompletion,
  };
  return createApiClient(endpoint, key !== null || provider === 'compatible', dialect);
}

function readChatCompletion(fields: Readonly<Record<string, unknown>>): ReadAnswer | undefined {
  const choices = fields['choices'];
  const choice = fieldsOf(Array.isArray(choices) ? (choices as unknown[])[0] : undefined);
  const message = fieldsOf(choice?.['message']);
  if (choice === undefined || message === undefined) return undefined;
  const text = readContent(message['content']);
  if (text === undefined) return undefined;
  const usage = readUsage(fields['usage']);
  const refusal = textOf(message['refusal']);
  if (refusal !== '') return { text: refusal, finishReason: 'refusal', isRefusal: true, usage };
  const finishReason = FINISH_REASONS.get(textOf(choice['finish_reason'])) ?? 'other';
  return { text, finishReason, ...(finishReason === 'content_filter' ? { isRefusal: true } : {}), usage };
}

/** A map, since a server's text is looked up: an object would answer to `constructor`. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
]);

/** A text, or a list of blocks as some servers give it; undefined for what is neither. */
function readContent(content: unknown): string | undefined {
  if (content === null || content === undefined) return '';
  if (Array.isArray(content)) return joinTexts(content);
  return typeof content === 'string' ? content : undefined;
}

function readUsage(given: unknown): TokenUsage | null {
  const fields = fieldsOf(given);
  const inputTokens = countOf(fields?.['prompt_tokens']);
  const outputTokens = countOf(fields?.['completion_tokens']);
  return inputTokens === undefined || outputTokens === undefined ? null : { inputTokens, outputTokens };
}
