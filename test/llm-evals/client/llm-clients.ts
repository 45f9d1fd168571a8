import { expect } from 'chai';

import { LLMClientError } from '../../../src/exceptions/index.ts';
import type { ClientFailure, LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import { type ClientConfig, createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';
import type { HttpEndpointConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import type { AnswerRecord } from '../../../src/llm-evals/client/transcript.ts';
import { type LlmServer, type LlmServerBehaviour, startLlmServer } from '../../helpers/llm-server.ts';

/** A key for the tests, which must not appear in any output. */
export const PLANTED = 'planted-K3y+of/tests';

export const PLANTED_ENV = {
  OPENAI_API_KEY: PLANTED,
  ANTHROPIC_API_KEY: PLANTED,
  GEMINI_API_KEY: PLANTED,
  AWS_BEARER_TOKEN_BEDROCK: PLANTED,
  AWS_REGION: 'us-east-1',
  OLLAMA_API_KEY: PLANTED,
  VLLM_API_KEY: PLANTED,
  EVENHAND_LLM_API_KEY: PLANTED,
};

/** The providers with an API of their own, and `http`, whose endpoint the server implements. */
export const NETWORK_PROVIDERS = [
  'openai',
  'openai_responses',
  'anthropic',
  'gemini',
  'bedrock',
  'ollama',
  'vllm',
  'compatible',
  'http',
] as const;

/** The section `http` for the endpoint of a server. */
export function endpointOf(server: Pick<LlmServer, 'baseUrl'>): HttpEndpointConfig {
  return {
    url: `${server.baseUrl}/ask`,
    method: 'POST',
    headers: { Authorization: 'Bearer ${EVENHAND_LLM_API_KEY}' },
    body: { prompt: '{{prompt}}' },
    answerPath: '$.answer',
    inputTokensPath: '$.usage.input',
    outputTokensPath: '$.usage.output',
  };
}

/** Starts a server before the suite, stops it after the suite, and resets its behaviour before each test. */
export function useLlmServer(): () => LlmServer {
  let server: LlmServer | undefined;
  before(async () => {
    server = await startLlmServer();
  });
  beforeEach(() => {
    server?.setBehaviour({ key: PLANTED });
  });
  after(() => server?.close());
  return () => {
    if (server === undefined) throw new Error('The server has not started.');
    return server;
  };
}

export function clientOf(
  server: LlmServer,
  config: Partial<ClientConfig> = {},
  env = PLANTED_ENV as object,
): LLMClient {
  const defaults = { provider: 'openai', model: 'a-model', timeoutMillis: 5000, params: {} } as const;
  const http = config.provider === 'http' ? { http: endpointOf(server) } : {};
  return createProviderClient({ ...defaults, baseUrl: server.baseUrl, ...http, ...config }, { env: { ...env } });
}

/** Returns the failure of a request that must fail. */
export async function problemOf(work: Promise<unknown>): Promise<ClientFailure & { readonly error: LLMClientError }> {
  const error = await errorOf(work);
  expect(error).to.be.instanceOf(LLMClientError);
  const { context } = error as LLMClientError;
  return { ...(context as unknown as ClientFailure), error: error as LLMClientError };
}

/** Returns the error of work that must fail. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  const none = Symbol('none');
  const error: unknown = await work.then(
    () => none,
    (reason: unknown) => reason,
  );
  if (error === none) throw new Error('It did not fail.');
  return error;
}

/** Makes one attempt against a server with the given behaviour. */
export async function attempt(server: LlmServer, behaviour: LlmServerBehaviour, config: Partial<ClientConfig> = {}) {
  server.setBehaviour({ key: PLANTED, ...behaviour });
  return clientOf(server, config).complete('Hello there');
}

/** Returns a valid record of an answer with the given fields. */
export function answerRecord(given: Partial<AnswerRecord> = {}): AnswerRecord {
  return {
    key: 'k',
    model: 'openai:a-model',
    prompt: 'Hello there',
    repeat: 0,
    text: 'Hello to you.',
    error: null,
    finishReason: 'stop',
    isRefusal: null,
    inputTokens: 2,
    outputTokens: 4,
    cached: false,
    latencyMillis: 12,
    attempts: 1,
    ...given,
  };
}
