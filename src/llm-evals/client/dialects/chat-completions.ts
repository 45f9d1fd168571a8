import type { Mapping } from '../../../internal/values.ts';
import { fieldsOf, joinTexts, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason } from '../llm-client.ts';
import { type ApiDialect, bearerHeader, type ReadAnswer, withSystemMessage } from './api-dialect.ts';

/**
 * OpenAI's API for chat completions. Compatible servers and vLLM offer the same API.
 *
 * `max_tokens` is sent to OpenAI as `max_completion_tokens`, because its newer models require this name. Other servers
 * receive `max_tokens`, because most servers support only this name.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export const CHAT_COMPLETIONS: ApiDialect = {
  path: () => '/chat/completions',
  headers: bearerHeader,
  write: ({ provider, model }, { maxTokens, rest, ...conversation }) => ({
    ...rest,
    ...(maxTokens === null ? {} : { [provider === 'openai' ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    model,
    messages: withSystemMessage(conversation),
  }),
  read: readChatCompletion,
};

function readChatCompletion(fields: Mapping): ReadAnswer | undefined {
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
  const finishReason = CHAT_FINISH_REASONS.find((known) => known === choice['finish_reason']) ?? 'other';
  const calls = objectsIn(message['tool_calls']).map((call) => {
    const { name, arguments: given, input } = fieldsOf(call['function']) ?? fieldsOf(call['custom']) ?? {};
    return { name, input: given ?? input };
  });
  const flag = finishReason === 'content_filter' ? { isRefusal: true } : {};
  return { text: withToolCalls(text, calls), finishReason, ...flag, usage };
}

const CHAT_FINISH_REASONS: readonly FinishReason[] = ['stop', 'length', 'content_filter'];

/**
 * Reads the content of a message, which is a text or, from some servers, a list of blocks. Returns undefined for other
 * content.
 */
function readContent(content: unknown): string | undefined {
  if (content === null || content === undefined) return '';
  if (Array.isArray(content)) return joinTexts(content);
  return typeof content === 'string' ? content : undefined;
}
