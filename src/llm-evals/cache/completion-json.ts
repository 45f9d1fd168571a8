import { z } from 'zod';

import { camelFields } from '../../internal/arguments.ts';
import type { Mapping } from '../../internal/values.ts';
import { type Completion, FINISH_REASONS } from '../client/llm-client.ts';

/** The version of the cache file layout. Files with another version are not read. */
const VERSION = 1;

/** Serializes an answer for a cache file, with its key. */
export function completionToJson(key: string, completion: Completion): string {
  const { text, finishReason, isRefusal, usage, latencyMillis, turns } = completion;
  const json = {
    version: VERSION,
    key,
    text,
    finish_reason: finishReason,
    is_refusal: isRefusal,
    usage: usage === null ? null : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    latency_millis: latencyMillis,
    turns,
  };
  return `${JSON.stringify(json)}\n`;
}

const amountSchema = z.number().min(0);

/** The fields of an answer in a cache file. */
const completionSchema = z.object({
  text: z.string(),
  finish_reason: z.enum(FINISH_REASONS),
  is_refusal: z.boolean().exactOptional(),
  usage: z.object({ input_tokens: amountSchema, output_tokens: amountSchema }).nullable(),
  latency_millis: amountSchema,
  turns: z.array(z.string()).exactOptional(),
});

/** Parses the content of a cache file. Returns the answer, or the reason why the content is not valid. */
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
  const { data } = completionSchema.safeParse(fields);
  if (data === undefined) return 'a field is missing or has the wrong type';
  const usage = data.usage && Object.freeze(camelFields(data.usage));
  return Object.freeze({ ...camelFields(data), usage, cached: true });
}
