import type { Mapping } from '../../../internal/values.ts';
import { fieldsOf, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason } from '../llm-client.ts';
import { type ApiDialect, bearerHeader, type ReadAnswer } from './api-dialect.ts';

/**
 * OpenAI's Responses API.
 *
 * The system prompt is sent as `instructions`, and `max_tokens` as `max_output_tokens`. `store` is false by default, so
 * that the provider does not keep the prompts and answers of an evaluation. Reasoning is not part of the answer.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export const OPENAI_RESPONSES: ApiDialect = {
  path: () => '/responses',
  headers: bearerHeader,
  write: ({ model }, { system, messages, maxTokens, rest }) => ({
    store: false,
    ...rest,
    ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
    ...(system === null ? {} : { instructions: system }),
    model,
    input: messages,
  }),
  read: readResponse,
};

function readResponse(fields: Mapping): ReadAnswer | undefined {
  const { output, status } = fields;
  // The body of a failed response has an error, which the caller reports.
  if (!Array.isArray(output) || status === 'failed') return undefined;
  const items = objectsIn(output);
  const content = items.filter(({ type }) => type === 'message').flatMap((message) => objectsIn(message['content']));
  const counts = fieldsOf(fields['usage']);
  const usage = usageOf(counts?.['input_tokens'], counts?.['output_tokens']);
  const refusal = content.map((part) => textOf(part['refusal'])).join('');
  if (refusal !== '') return { text: refusal, finishReason: 'refusal', isRefusal: true, usage };
  const text = content.map((part) => (part['type'] === 'output_text' ? textOf(part['text']) : '')).join('');
  const calls = items
    .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    .map(({ name, arguments: input, input: custom }) => ({ name, input: input ?? custom }));
  const finishReason = finishReasonOf(fields, calls.length > 0);
  const flag = finishReason === 'content_filter' ? { isRefusal: true } : {};
  return { text: withToolCalls(text, calls), finishReason, ...flag, usage };
}

function finishReasonOf({ status, incomplete_details: details }: Mapping, hasCalls: boolean): FinishReason {
  if (status === 'completed') return hasCalls ? 'other' : 'stop';
  const reason = fieldsOf(details)?.['reason'];
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'content_filter' : 'other';
}
