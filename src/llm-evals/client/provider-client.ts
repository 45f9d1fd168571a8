import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { apiAccess, type LiveAccessOptions } from './access.ts';
import { createApiClient, readParams } from './api-client.ts';
import { createCommandClient } from './command-client.ts';
import { createHttpClient } from './http-client.ts';
import type { LLMClient } from './llm-client.ts';
import { createLocalClient } from './local-client.ts';
import { isApiProvider } from './provider-hosts.ts';
import { createReplayClient } from './replay-client.ts';
import type { AnswerRecord } from './transcript.ts';

/** Options of {@link createProviderClient}. */
export interface ProviderClientOptions extends Pick<LiveAccessOptions, 'env' | 'allowCode'> {
  /**
   * The recorded answers for the provider `replay`.
   * @defaultValue none
   */
  readonly records?: Iterable<AnswerRecord> | undefined;
}

const PROVIDER_CLIENT_OPTION_NAMES: OptionNames<ProviderClientOptions> = { env: true, allowCode: true, records: true };

/** The parts of a configuration that define a client. */
export type ClientConfig = Pick<LLMEvalConfig, 'provider' | 'model' | 'baseUrl' | 'timeoutMillis' | 'params'> &
  Partial<Pick<LLMEvalConfig, 'http' | 'command' | 'commandInput'>>;

/**
 * Creates the plain client for a configuration's provider. The client has no cache and no retries. The client does not
 * check the permission for requests either; see {@link liveAccess}.
 *
 * | provider | key | where |
 * |---|---|---|
 * | openai, openai_responses | OPENAI_API_KEY | api.openai.com, or base_url |
 * | anthropic | ANTHROPIC_API_KEY | api.anthropic.com, or base_url |
 * | gemini | GEMINI_API_KEY | generativelanguage.googleapis.com, or base_url |
 * | bedrock | AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK | the endpoint of AWS_REGION, or base_url |
 * | ollama | OLLAMA_API_KEY, if the server needs one | 127.0.0.1:11434, or base_url |
 * | vllm | VLLM_API_KEY, if the server needs one | 127.0.0.1:8000, or base_url |
 * | compatible | EVENHAND_LLM_API_KEY, if the server needs one | base_url; with a key, EVENHAND_LLM_BASE_URL names its host too |
 * | http | variables in `http.headers` | `http.url`; with a variable, EVENHAND_LLM_BASE_URL names its host too |
 * | command | none | a program on this machine, with `allowCode` |
 * | local, replay | none | nothing is sent |
 *
 * With every provider, `base_url` may be an address of this machine. Another host receives a key only if the
 * environment also names that host, with scheme and port (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `GEMINI_BASE_URL`,
 * `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, `OLLAMA_BASE_URL`, `VLLM_BASE_URL`, `EVENHAND_LLM_BASE_URL`). A configuration file
 * alone therefore cannot send a key to another host. A missing key is reported at the first request, because no key is
 * needed if all answers are cached.
 * @throws {ConfigValidationError} if the address is invalid, if the key must not be sent to the address, if params
 * contain settings that the client sets itself, or if `replay` has no records
 * @throws {ValueError} if the provider is unknown
 * @example
 * ```ts
 * import { createProviderClient } from 'evenhand/llm-evals';
 *
 * const settings = { model: 'a-model', timeoutMillis: 60_000, params: {} };
 * const remote = createProviderClient({ provider: 'openai', baseUrl: null, ...settings }, { env: {} });
 * const own = createProviderClient({ provider: 'compatible', baseUrl: 'http://localhost:11434/v1', ...settings });
 * console.log(remote.id, own.id);
 * // openai:a-model compatible:http://localhost:11434/v1:a-model
 * ```
 */
export function createProviderClient(config: ClientConfig, options: ProviderClientOptions = {}): LLMClient {
  assertKnownOptions('createProviderClient', options, PROVIDER_CLIENT_OPTION_NAMES);
  const { env = process.env, allowCode = false, records } = options;
  const { provider, model, baseUrl, timeoutMillis, http, command, commandInput = 'text' } = config;
  readParams(config.params);
  if (isApiProvider(provider)) return createApiClient(apiAccess({ provider, model, baseUrl, timeoutMillis }, env));
  if (provider === 'local') return createLocalClient({ model });
  if (provider === 'http') return createHttpClient({ model, timeoutMillis, http: http ?? missing('http') }, env);
  if (provider === 'command') {
    const program = command ?? missing('command');
    return createCommandClient({ model, timeoutMillis, command: program, commandInput }, env, allowCode);
  }
  if (records !== undefined) return createReplayClient(records);
  throw new ConfigValidationError('The provider replay needs recorded answers.', {
    context: { parameter: 'replay_path' },
    suggestion: 'Set replay_path to the file of answers.',
  });
}

function missing(name: 'http' | 'command'): never {
  throw new ConfigValidationError(`The provider ${name} needs the key ${name} of the configuration.`, {
    context: { parameter: name },
    suggestion: `Add the key '${name}'.`,
  });
}
