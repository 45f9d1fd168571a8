import { requestKey } from '../../../src/llm-evals/cache/request-key.ts';
import type { LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import { createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';
import type { LLMRequest } from '../../../src/llm-evals/plan/planned-prompt.ts';

/** Returns a client of the test server, which uses the OpenAI API. */
export function serverClient(baseUrl: string, timeoutMillis = 2000): LLMClient {
  const config = { provider: 'compatible', model: 'm', baseUrl, timeoutMillis, params: {} } as const;
  return createProviderClient(config, { env: { EVENHAND_LLM_API_KEY: 'a-key-for-tests' } });
}

/** Returns requests as a run sends them. */
export function serverRequests(count: number): LLMRequest[] {
  return Array.from({ length: count }, (_, index) => {
    const asked = { prompt: `prompt ${index}`, params: { max_tokens: 16 }, repeat: 0 };
    return { ...asked, key: requestKey({ ...asked, provider: 'compatible', baseUrl: null, model: 'm' }) };
  });
}

/** Estimates the maximum tokens of such a request. */
export function serverCeiling(): { input: number; outputCeiling: number } {
  return { input: 50, outputCeiling: 16 };
}
