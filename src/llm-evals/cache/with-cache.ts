import { CacheMissError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import type { Completion, CompletionOptions, LLMClient } from '../client/llm-client.ts';
import { type ModelIdentity, requestKey } from './request-key.ts';
import type { ResponseCache } from './response-cache.ts';

/** Options of {@link withCache}. */
export interface WithCacheOptions {
  /**
   * Whether answers that are not cached may be requested.
   * @defaultValue true
   */
  readonly isLiveAllowed?: boolean | undefined;
  /**
   * The reason why no answers may be requested, as a clause without a full stop.
   * @defaultValue 'only known answers are allowed'
   */
  readonly liveReason?: string | undefined;
}

const WITH_CACHE_OPTION_NAMES: OptionNames<WithCacheOptions> = { isLiveAllowed: true, liveReason: true };

/** The maximum number of characters of a prompt that an error message shows. */
const SHOWN_PROMPT = 60;

/**
 * Creates a client that returns answers from a cache. An answer that is not cached is requested from the wrapped client
 * and then cached. Concurrent calls for the same answer share one request. Errors are not cached. If an answer cannot
 * be written to disk, the client returns the answer and logs a warning.
 * @throws {CacheMissError} (from the client's calls) if an answer is not cached and requests are not allowed
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import path from 'node:path';
 * import { LLMEvalAdapter, ResponseCache, withCache } from 'evenhand/llm-evals';
 *
 * let calls = 0;
 * const counting = new LLMEvalAdapter(() => `answer ${String(++calls)}`, { id: 'counting' });
 * const cache = new ResponseCache({ cacheDir: mkdtempSync(path.join(tmpdir(), 'cache-')) });
 * const client = withCache(counting, cache, { provider: 'function', baseUrl: null, model: 'counting' });
 * console.log((await client.complete('Why?')).text);
 * console.log((await client.complete('Why?')).text);
 * console.log((await client.complete('Why?', { repeat: 1 })).text);
 * // answer 1
 * // answer 1
 * // answer 2
 * ```
 */
export function withCache(
  client: LLMClient,
  cache: ResponseCache,
  identity: ModelIdentity,
  options: WithCacheOptions = {},
): LLMClient {
  assertKnownOptions('withCache', options, WITH_CACHE_OPTION_NAMES);
  const { isLiveAllowed = true, liveReason = 'only known answers are allowed' } = options;
  const underWay = new Map<string, Promise<Completion>>();
  const find = async (key: string, prompt: string, options: CompletionOptions): Promise<Completion> => {
    const known = await cache.get(key);
    if (known !== undefined) return known;
    if (!isLiveAllowed) throw missOf(prompt, options.repeat ?? 0, liveReason);
    const completion = await client.complete(prompt, options);
    await keep(cache, key, completion);
    return completion;
  };
  const complete = async (prompt: string, options: CompletionOptions = {}): Promise<Completion> => {
    const { messages, params = {}, repeat = 0 } = options;
    const key = requestKey({ ...identity, prompt, messages, params, repeat });
    const other = underWay.get(key);
    if (other !== undefined) {
      const shared = await other.catch(() => undefined);
      // If the other call failed or was cancelled, this one sends its own request.
      return shared === undefined ? complete(prompt, options) : { ...shared, cached: true };
    }
    const call = find(key, prompt, options).finally(() => underWay.delete(key));
    underWay.set(key, call);
    return call;
  };
  return Object.freeze({ id: client.id, complete });
}

/** Caches an answer. Logs a warning instead of throwing an error, because the answer has been paid for. */
async function keep(cache: ResponseCache, key: string, completion: Completion): Promise<void> {
  try {
    await cache.set(key, completion);
  } catch (cause) {
    getLogger().warn(cause instanceof Error ? cause.message : String(cause));
  }
}

function missOf(prompt: string, repeat: number, reason: string): CacheMissError {
  const start = prompt.length > SHOWN_PROMPT ? `${prompt.slice(0, SHOWN_PROMPT)}…` : prompt;
  return new CacheMissError(
    `There is no saved answer to ${JSON.stringify(start)} (repeat ${String(repeat)}), and ${reason}.`,
    {
      context: { prompt: start, repeat, reason },
      suggestion: "Run once with --live (or EVENHAND_LLM_ALLOW_LIVE=1) and the provider's key to fill the cache.",
    },
  );
}
