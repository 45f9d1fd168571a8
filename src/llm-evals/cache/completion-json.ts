import type { Mapping } from '../../internal/values.ts';
import { isAmount } from '../client/client-error.ts';
import { type Completion, FINISH_REASONS, type TokenUsage } from '../client/llm-client.ts';

/** The version of the cache file layout. Other versions are not read. */
const VERSION = 1;

/** Serializes an answer for a cache file, with its key. */
export function completionToJson(key: string, completion: Completion): string {
  const { text, finishReason, isRefusal, usage, latencyMillis } = completion;
  const json = {
    version: VERSION,
    key,
    text,
    finish_reason: finishReason,
    is_refusal: isRefusal,
    usage: usage === null ? null : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    latency_millis: latencyMillis,
  };
  return `${JSON.stringify(json)}\n`;
}

/** Parses the content of a cache file. Returns the answer, or the reason why it is not valid. */
export function completionFromJson(key: string, content: string): Completion | string {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    return 'it is not JSON';
  }
  if (typeof json !== 'object' || json === null) return 'it is not a JSON object';
  const fields = json as Mapping;
  if (fields['version'] !== VERSION) return `its version is not ${String(VERSION)}`;
  if (fields['key'] !== key) return 'it belongs to another request';
  return toCompletion(fields) ?? 'a field is missing or has the wrong type';
}

function toCompletion(fields: Mapping): Completion | undefined {
  const { text, is_refusal: isRefusal, latency_millis: latencyMillis } = fields;
  const finishReason = FINISH_REASONS.find((reason) => reason === fields['finish_reason']);
  const usage = toUsage(fields['usage']);
  if (typeof text !== 'string' || finishReason === undefined || usage === undefined) return undefined;
  if (isRefusal !== undefined && typeof isRefusal !== 'boolean') return undefined;
  if (!isAmount(latencyMillis)) return undefined;
  const completion = { text, finishReason, usage, cached: true, latencyMillis };
  return Object.freeze(isRefusal === undefined ? completion : { ...completion, isRefusal });
}

/** Parses the token usage. Returns undefined for an invalid value. */
function toUsage(given: unknown): TokenUsage | null | undefined {
  if (given === null) return null;
  if (typeof given !== 'object') return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = given as Mapping;
  return isAmount(inputTokens) && isAmount(outputTokens) ? Object.freeze({ inputTokens, outputTokens }) : undefined;
}
