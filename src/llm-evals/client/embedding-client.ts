import type { ApiAccess } from './access.ts';
import { clientError, countOf, fieldsOf, refuseCancelled } from './client-error.ts';
import type { LLMClient } from './llm-client.ts';
import { type Endpoint, excerptOf, postJson } from './post-json.ts';

/** The APIs for embeddings: OpenAI's API, which compatible servers also offer, and Ollama's own API. */
export type EmbeddingApi = 'openai' | 'ollama';

/**
 * Creates a client whose answers are embeddings: the text of an answer is a JSON list of numbers. The client makes one
 * attempt for each text. In this form, embeddings follow the same rules for retries and the cache as answers.
 */
export function createEmbeddingClient(access: ApiAccess, api: EmbeddingApi): LLMClient {
  const { id, key, baseUrl, model } = access;
  const headers: Endpoint['headers'] = key === null ? {} : { authorization: `Bearer ${key}` };
  const endpoint: Endpoint = {
    ...access,
    address: `${baseUrl}${api === 'ollama' ? '/api/embed' : '/embeddings'}`,
    headers,
  };
  return Object.freeze<LLMClient>({
    id,
    async complete(text, { signal } = {}) {
      refuseCancelled(id, signal);
      const body = JSON.stringify({ model, input: [text] });
      const { json, status, latencyMillis } = await postJson(endpoint, body, signal, () => false);
      const vector = vectorIn(json, api);
      if (vector === undefined) {
        const shown = excerptOf(JSON.stringify(json), access.env);
        throw clientError('malformed', `${id} returned no embedding: ${shown}.`, { status });
      }
      const counted = fieldsOf(fieldsOf(json)?.['usage'])?.['prompt_tokens'] ?? fieldsOf(json)?.['prompt_eval_count'];
      const inputTokens = countOf(counted);
      const usage = inputTokens === undefined ? null : { inputTokens, outputTokens: 0 };
      return Object.freeze({ text: JSON.stringify(vector), finishReason: 'stop', usage, cached: false, latencyMillis });
    },
  });
}

function vectorIn(json: unknown, api: EmbeddingApi): readonly number[] | undefined {
  const fields = fieldsOf(json);
  const list: unknown = api === 'ollama' ? fields?.['embeddings'] : fields?.['data'];
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return readVector(api === 'ollama' ? first : fieldsOf(first)?.['embedding']);
}

/** Returns a list of finite numbers that are not all 0; undefined for any other value. */
export function readVector(value: unknown): readonly number[] | undefined {
  const isVector = Array.isArray(value) && value.length > 0 && value.every(Number.isFinite) && value.some((each) => each !== 0); // prettier-ignore
  return isVector ? (value as readonly number[]) : undefined;
}
