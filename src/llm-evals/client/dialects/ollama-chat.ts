import type { Mapping } from '../../../internal/values.ts';
import { fieldsOf, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason } from '../llm-client.ts';
import { type ApiDialect, bearerHeader, divideParams, type ReadAnswer, withSystemMessage } from './api-dialect.ts';

/** The params that belong to the top level of a request. Other params belong to `options`. */
const TOP_LEVEL = ['format', 'keep_alive', 'think', 'tools', 'logprobs', 'top_logprobs'];

/**
 * The native API of Ollama.
 *
 * `max_tokens` is sent as `num_predict` of `options`, with the other params. Thinking is not part of the answer.
 * @see https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
 */
export const OLLAMA_CHAT: ApiDialect = {
  path: () => '/api/chat',
  headers: bearerHeader,
  write: ({ model }, { maxTokens, rest: { options, ...rest }, ...conversation }) => {
    const [top, others] = divideParams(rest, TOP_LEVEL);
    const length = maxTokens === null ? {} : { num_predict: maxTokens };
    const settings = { ...fieldsOf(options), ...others, ...length };
    return {
      ...top,
      ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
      model,
      messages: withSystemMessage(conversation),
      stream: false,
    };
  },
  read: readChat,
};

function readChat(fields: Mapping): ReadAnswer | undefined {
  const message = fieldsOf(fields['message']);
  if (typeof message?.['content'] !== 'string' || fields['done'] !== true) return undefined;
  const calls = objectsIn(message['tool_calls']).map((call) => {
    const { name, arguments: input } = fieldsOf(call['function']) ?? {};
    return { name, input };
  });
  // Older versions of Ollama do not send a reason with a complete answer.
  const reason = textOf(fields['done_reason'] ?? 'stop');
  return {
    text: withToolCalls(message['content'], calls),
    finishReason: calls.length > 0 ? 'other' : (FINISH_REASONS.get(reason) ?? 'other'),
    usage: usageOf(fields['prompt_eval_count'], fields['eval_count']),
  };
}

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
]);
