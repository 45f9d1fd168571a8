import type { ApiAccess } from '../access.ts';
import { fieldsOf, joinTexts, textOf, usageOf } from '../client-error.ts';
import type { FinishReason, LLMClient } from '../llm-client.ts';
import { type ApiDialect, createApiClient, type ReadAnswer } from './api-client.ts';

/**
 * Creates a client of OpenAI's chat completions, or of a compatible server.
 *
 * `max_tokens` is sent to OpenAI as `max_completion_tokens`, which its newer models require. Other servers receive it
 * under its own name, which is usually the only one they support. An answer without text, such as a tool call, is ''.
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
  const counts = fieldsOf(fields['usage']);
  const usage = usageOf(counts?.['prompt_tokens'], counts?.['completion_tokens']);
  const refusal = textOf(message['refusal']);
  if (refusal !== '') return { text: refusal, finishReason: 'refusal', isRefusal: true, usage };
  const finishReason = FINISH_REASONS.get(textOf(choice['finish_reason'])) ?? 'other';
  return { text, finishReason, ...(finishReason === 'content_filter' ? { isRefusal: true } : {}), usage };
}

/** A map, because an object would have values for keys of a server such as `constructor`. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
]);

/** Reads a text, or a list of blocks as some servers return it. Returns undefined if it is neither. */
function readContent(content: unknown): string | undefined {
  if (content === null || content === undefined) return '';
  if (Array.isArray(content)) return joinTexts(content);
  return typeof content === 'string' ? content : undefined;
}
