import type { Mapping } from '../../../internal/values.ts';
import { countOf, fieldsOf, objectsIn, textOf, usageOf, withToolCalls } from '../client-error.ts';
import type { FinishReason, TokenUsage } from '../llm-client.ts';
import { type ApiDialect, divideParams, FILTERED, type ReadAnswer } from './api-dialect.ts';

/** The params that belong to the top level of a request. Other params belong to `generationConfig`. */
const TOP_LEVEL = ['tools', 'toolConfig', 'safetySettings', 'cachedContent', 'labels', 'serviceTier', 'store'];

/**
 * Google's method generateContent of the Gemini API.
 *
 * `max_tokens` is sent as `maxOutputTokens` of `generationConfig`, with the other params. Thoughts are not part of the
 * answer, but their tokens count as output tokens, because the provider charges them.
 * @see https://ai.google.dev/api/generate-content
 */
export const GEMINI_GENERATE_CONTENT: ApiDialect = {
  path: ({ model }) => `/${modelPath(model)}:generateContent`,
  headers: ({ key }) => (key === null ? {} : { 'x-goog-api-key': key }),
  write: (_, { system, messages, maxTokens, rest: { generationConfig, ...rest } }) => {
    const [top, others] = divideParams(rest, TOP_LEVEL);
    const length = maxTokens === null ? {} : { maxOutputTokens: maxTokens };
    const config = { ...fieldsOf(generationConfig), ...others, ...length };
    return {
      ...top,
      ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
      ...(system === null ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      contents: messages.map(({ role, content }) => ({
        role: role === 'assistant' ? 'model' : 'user',
        parts: [{ text: content }],
      })),
    };
  },
  read: readCandidate,
};

/** Returns the path of a model: `models/…`, unless the name already contains a collection such as `tunedModels/…`. */
function modelPath(model: string): string {
  const path = model.includes('/') ? model : `models/${model}`;
  return path.split('/').map(encodeURIComponent).join('/');
}

function readCandidate(fields: Mapping): ReadAnswer | undefined {
  const [candidate] = objectsIn(fields['candidates']);
  const usage = readUsage(fieldsOf(fields['usageMetadata']));
  if (candidate === undefined) {
    const isBlocked = textOf(fieldsOf(fields['promptFeedback'])?.['blockReason']) !== '';
    return isBlocked ? { ...FILTERED, usage } : undefined;
  }
  const parts = objectsIn(fieldsOf(candidate['content'])?.['parts']).filter(({ thought }) => thought !== true);
  const calls = parts.map((part) => fieldsOf(part['functionCall'])).filter((call) => call !== undefined);
  const reason = textOf(candidate['finishReason']);
  // An answer without parts is valid only if the model says why it stopped.
  if (parts.length === 0 && reason === '') return undefined;
  const finishReason = calls.length > 0 ? 'other' : (FINISH_REASONS.get(reason) ?? 'other');
  return {
    text: withToolCalls(
      parts.map(({ text }) => textOf(text)).join(''),
      calls.map((call) => ({ name: call['name'], input: call['args'] })),
    ),
    finishReason,
    ...(finishReason === 'content_filter' ? { isRefusal: true } : {}),
    usage,
  };
}

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
]);

/** Fields with a count of 0 are missing in a response. */
function readUsage(counts: Mapping | undefined): TokenUsage | null {
  if (counts === undefined) return null;
  const parts = ['candidatesTokenCount', 'thoughtsTokenCount'].map((name) => countOf(counts[name] ?? 0) ?? NaN);
  const input = ['promptTokenCount', 'toolUsePromptTokenCount'].map((name) => countOf(counts[name] ?? 0) ?? NaN);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return usageOf(sum(input), sum(parts));
}
