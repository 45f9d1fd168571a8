import type { Mapping } from '../../../internal/values.ts';
import { countOf, fieldsOf, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason, TokenUsage } from '../llm-client.ts';
import { signAwsRequest } from '../sign-aws-request.ts';
import { type ApiDialect, bearerHeader, divideParams, type ReadAnswer } from './api-dialect.ts';

/** The params that belong to the top level of a request. */
const TOP_LEVEL = [
  'additionalModelResponseFieldPaths',
  'guardrailConfig',
  'outputConfig',
  'performanceConfig',
  'requestMetadata',
  'serviceTier',
  'toolConfig',
];

/** The params of `inferenceConfig`, which all models share. */
const INFERENCE = ['temperature', 'topP', 'stopSequences'];

/**
 * The Converse API of Amazon Bedrock.
 *
 * `max_tokens` is sent as `maxTokens` of `inferenceConfig`, with `temperature`, `topP` and `stopSequences`. Params that
 * the API does not name are sent as `additionalModelRequestFields`, because they depend on the model. Requests have a
 * bearer token or, if there is none, a signature. Reasoning is not part of the answer.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export const BEDROCK_CONVERSE: ApiDialect = {
  path: ({ model }) => `/model/${encodeURIComponent(model)}/converse`,
  headers: (access, address, body) => {
    const { credentials } = access;
    if (credentials === null) return bearerHeader(access);
    const headers = { 'content-type': 'application/json' };
    return signAwsRequest({ method: 'POST', address, body, headers }, credentials, 'bedrock', new Date());
  },
  write: (_, { system, messages, maxTokens, rest: { inferenceConfig, additionalModelRequestFields, ...rest } }) => {
    const [top, others] = divideParams(rest, TOP_LEVEL);
    const [shared, ofModel] = divideParams(others, INFERENCE);
    const length = maxTokens === null ? {} : { maxTokens };
    const inference = { ...fieldsOf(inferenceConfig), ...shared, ...length };
    const additional = { ...fieldsOf(additionalModelRequestFields), ...ofModel };
    return {
      ...top,
      ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
      ...(Object.keys(additional).length === 0 ? {} : { additionalModelRequestFields: additional }),
      ...(system === null ? {} : { system: [{ text: system }] }),
      messages: messages.map(({ role, content }) => ({ role, content: [{ text: content }] })),
    };
  },
  read: readConverse,
};

function readConverse(fields: Mapping): ReadAnswer | undefined {
  const content = fieldsOf(fieldsOf(fields['output'])?.['message'])?.['content'];
  if (!Array.isArray(content)) return undefined;
  const blocks = objectsIn(content);
  const calls = blocks.map((block) => fieldsOf(block['toolUse'])).filter((call) => call !== undefined);
  const finishReason = FINISH_REASONS.get(textOf(fields['stopReason'])) ?? 'other';
  return {
    text: withToolCalls(
      blocks.map(({ text }) => textOf(text)).join(''),
      calls.map((call) => ({ name: call['name'], input: call['input'] })),
    ),
    finishReason,
    ...(finishReason === 'content_filter' || finishReason === 'refusal' ? { isRefusal: true } : {}),
    usage: readUsage(fieldsOf(fields['usage'])),
  };
}

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'refusal'],
]);

/** `inputTokens` excludes tokens that are read from or written to the cache of the provider. */
function readUsage(counts: Mapping | undefined): TokenUsage | null {
  const parts = [
    counts?.['inputTokens'],
    counts?.['cacheReadInputTokens'] ?? 0,
    counts?.['cacheWriteInputTokens'] ?? 0,
  ];
  const input = parts.reduce<number>((sum, part) => sum + (countOf(part) ?? NaN), 0);
  return usageOf(input, counts?.['outputTokens']);
}
