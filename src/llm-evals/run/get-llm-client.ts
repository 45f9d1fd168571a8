import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { readReplay } from '../bbq/read-replay.ts';
import { ResponseCache } from '../cache/response-cache.ts';
import { withCache } from '../cache/with-cache.ts';
import { liveAccess, type LiveAccessOptions } from '../client/access.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { createProviderClient } from '../client/provider-client.ts';
import { createReplayClient } from '../client/replay-client.ts';
import { modelIdentity, requestParams } from '../plan/planned-prompt.ts';
import { withRetries, type WithRetriesOptions } from '../scheduler/with-retries.ts';

/** Options of {@link getLlmClient}. */
export interface GetLlmClientOptions extends LiveAccessOptions {
  /** @defaultValue three retries, starting with a delay of one second */
  readonly retry?: WithRetriesOptions | undefined;
}

const GET_LLM_CLIENT_OPTION_NAMES: OptionNames<GetLlmClientOptions> = {
  live: true,
  env: true,
  allowCode: true,
  retry: true,
};

/**
 * Creates the client that a run with this configuration would use, so that you can ask single questions. The client
 * looks answers up in the cache, caches new answers, retries after transient failures, and sends nothing without a key
 * and permission. The client sends the configuration's `params` and system prompt with each prompt. If a call has
 * params too, they take precedence.
 *
 * The provider `local` generates answers, and the provider `replay` reads answers from its file. The providers `local`
 * and `replay` need no cache.
 * @throws {ConfigValidationError} if the key must not be sent to the address
 * @example
 * ```ts
 * import { getLlmClient, parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const client = getLlmClient(parseLlmEvalConfig({ prompt_templates: { hello: 'Say hello.' } }));
 * const { text, finishReason } = await client.complete('Say hello.');
 * console.log(client.id, text.length > 0, finishReason);
 * // local:stub true stop
 * ```
 */
export function getLlmClient(config: LLMEvalConfig, options: GetLlmClientOptions = {}): LLMClient {
  assertKnownOptions('getLlmClient', options, GET_LLM_CLIENT_OPTION_NAMES);
  if (config.provider === 'replay') return replayClient(config);
  const client = createProviderClient(config, { env: options.env, allowCode: options.allowCode });
  const params = requestParams(config);
  const asked = config.provider === 'local' ? client : guarded(client, config, options);
  return Object.freeze<LLMClient>({
    id: client.id,
    complete: (prompt, given = {}) => asked.complete(prompt, { ...given, params: { ...params, ...given.params } }),
  });
}

function guarded(client: LLMClient, config: LLMEvalConfig, options: GetLlmClientOptions): LLMClient {
  const { live, env, allowCode, retry } = options;
  const { isAllowed, reason } = liveAccess(config, { live, env, allowCode });
  return withCache(
    withRetries(client, retry),
    new ResponseCache({ cacheDir: config.cacheDir }),
    modelIdentity(config),
    {
      isLiveAllowed: isAllowed && !config.replayOnly,
      liveReason: config.replayOnly ? 'replay_only is set' : reason,
    },
  );
}

/** Creates a client that returns recorded answers. The file of answers is read at the first call of the client. */
function replayClient(config: LLMEvalConfig): LLMClient {
  let opened: Promise<LLMClient> | undefined;
  return Object.freeze<LLMClient>({
    id: `replay:${config.model}`,
    complete: async (prompt, options) => {
      opened ??= readReplay(config.replayPath ?? undefined, config).then((records) => createReplayClient(records));
      return (await opened).complete(prompt, options);
    },
  });
}
