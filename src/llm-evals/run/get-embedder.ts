import { CacheMissError, ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { EMBEDDING_PROVIDERS, LLM_EVAL_FIELDS, type LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { ResponseCache } from '../cache/response-cache.ts';
import { withCache } from '../cache/with-cache.ts';
import { apiAccess, liveAccess, type LiveAccessOptions } from '../client/access.ts';
import { createEmbeddingClient } from '../client/embedding-client.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { withRetries, type WithRetriesOptions } from '../scheduler/with-retries.ts';
import type { Embedder } from '../scoring/embedding-distance.ts';

/** The address of Ollama on the same machine. */
export const OLLAMA = 'http://127.0.0.1:11434';

const DEFAULT_CACHE = LLM_EVAL_FIELDS.cache_dir.parse(undefined);

/** Options of {@link getEmbedder}. */
export interface EmbedderOptions extends Pick<LiveAccessOptions, 'live' | 'env'> {
  /** `openai`, `compatible` (a server with OpenAI's API) or `ollama`. */
  readonly provider: (typeof EMBEDDING_PROVIDERS)[number];
  /** The name of the embedding model. */
  readonly model: string;
  /**
   * The URL of the provider.
   * @defaultValue the provider's own address, or http://127.0.0.1:11434 for ollama; required for compatible
   */
  readonly baseUrl?: string | undefined;
  /**
   * The folder of the cache. Each text is embedded only once.
   * @defaultValue '.evenhand/llm-cache'
   */
  readonly cacheDir?: string | undefined;
  /**
   * The maximum number of texts that are sent; each text is one request. Further texts that are not cached are an error.
   * @defaultValue no limit
   */
  readonly maxRequests?: number | undefined;
  /**
   * The maximum number of concurrent requests.
   * @defaultValue 4
   */
  readonly concurrency?: number | undefined;
  /**
   * The time limit of one attempt, in milliseconds.
   * @defaultValue 60_000
   */
  readonly timeoutMillis?: number | undefined;
  /** @defaultValue three retries, starting with a delay of one second */
  readonly retry?: WithRetriesOptions | undefined;
}

const EMBEDDER_OPTION_NAMES: OptionNames<EmbedderOptions> = {
  provider: true,
  model: true,
  baseUrl: true,
  cacheDir: true,
  maxRequests: true,
  concurrency: true,
  timeoutMillis: true,
  retry: true,
  live: true,
  env: true,
};

/**
 * Creates a function that embeds texts with an embedding model, for `embedding_excess` (see
 * {@link CounterfactualFairnessEvaluator}).
 *
 * Keys, addresses, the permission to send requests and the cache follow the same rules as for answers: `openai` reads
 * OPENAI_API_KEY, the other providers read EVENHAND_LLM_API_KEY if the server needs a key, and nothing is sent without
 * `live` or EVENHAND_LLM_ALLOW_LIVE=1. A dry run and the budget of a run do not count embeddings, so set `maxRequests`.
 * @throws {ConfigValidationError} if the key must not be sent to the address, or if the model is missing
 * @throws {ValueError} if an option is out of range
 * @example
 * ```ts
 * import { getEmbedder } from 'evenhand/llm-evals';
 *
 * const embed = getEmbedder({ provider: 'ollama', model: 'nomic-embed-text', cacheDir: './no-such-folder', env: {} });
 * console.log(embed.label);
 * const problem = await embed(['Good morning']).catch(String);
 * console.log(problem.startsWith('CacheMissError'));
 * // ollama:nomic-embed-text
 * // true
 * ```
 */
export function getEmbedder(options: EmbedderOptions): Embedder & { readonly label: string } {
  assertKnownOptions('getEmbedder', options, EMBEDDER_OPTION_NAMES);
  const { live, env = process.env, cacheDir = DEFAULT_CACHE, retry } = options;
  const provider = oneOf('provider', options.provider, EMBEDDING_PROVIDERS);
  const concurrency = requireInteger('concurrency', options.concurrency ?? 4, 1);
  const timeoutMillis = requireInteger('timeoutMillis', options.timeoutMillis ?? 60_000, 1);
  const { maxRequests = Infinity } = options;
  if (maxRequests !== Infinity) requireInteger('maxRequests', maxRequests, 0);
  const model = requireModel(options.model);
  const api = provider === 'ollama' ? 'ollama' : 'openai';
  const host = hostOf(provider);
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? (provider === 'ollama' ? OLLAMA : null);
  const access = apiAccess({ provider: host, model, baseUrl, timeoutMillis }, env);
  const { isAllowed, reason } = liveAccess({ provider: host, replayOnly: false }, { live, env });
  const limited = limitRequests(withRetries(createEmbeddingClient(access, api), retry), maxRequests);
  // The provider is part of the key of the cache, so that an embedding is never read as an answer.
  const identity = { provider: `${provider} embeddings`, baseUrl, model };
  const cache = new ResponseCache({ cacheDir });
  const client = withCache(limited, cache, identity, { isLiveAllowed: isAllowed, liveReason: reason });
  const embed = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> => {
    const vectors: (readonly number[])[] = [];
    for (let start = 0; start < texts.length; start += concurrency) {
      const batch = texts.slice(start, start + concurrency);
      const answers = await Promise.all(batch.map((text) => client.complete(text)));
      vectors.push(...answers.map(({ text }) => JSON.parse(text) as readonly number[]));
    }
    return vectors;
  };
  return Object.assign(embed, { label: `${provider}:${model}` });
}

/** Creates the embedder of a configuration; undefined if it has none. */
export function embedderOf(
  { embedding, cacheDir, concurrency, timeoutMillis, replayOnly }: LLMEvalConfig,
  { live = false }: Pick<LiveAccessOptions, 'live'> = {},
): Embedder | undefined {
  if (embedding === null) return undefined;
  // With replay_only, no request is sent even if EVENHAND_LLM_ALLOW_LIVE is 1.
  const limits = replayOnly ? { maxRequests: 0 } : {};
  return getEmbedder({ ...embedding, ...limits, cacheDir, concurrency, timeoutMillis, live });
}

/**
 * Checks that embeddings may be requested, before answers are paid for.
 * @throws {CacheMissError} if requests to the provider of embeddings are not allowed
 */
export function assertEmbeddingAllowed(
  { embedding, replayOnly }: Pick<LLMEvalConfig, 'embedding' | 'replayOnly'>,
  { live = false }: Pick<LiveAccessOptions, 'live'>,
): void {
  if (embedding === null) return;
  const { isAllowed, reason, suggestion } = liveAccess({ provider: hostOf(embedding.provider), replayOnly }, { live });
  if (isAllowed) return;
  throw new CacheMissError(`Embeddings cannot be requested, and no prompt was sent: ${reason}.`, {
    code: 'live-calls-not-allowed',
    context: { parameter: 'embedding' },
    suggestion,
  });
}

/** Returns the provider whose rules for keys and addresses apply. Ollama has those of a compatible server. */
export function hostOf(provider: EmbedderOptions['provider']): 'openai' | 'compatible' {
  return provider === 'ollama' ? 'compatible' : provider;
}

function requireModel(model: unknown): string {
  if (typeof model === 'string' && model.trim() !== '') return model;
  throw new ConfigValidationError('The embedder has no model.', {
    context: { parameter: 'model' },
    suggestion: "Set the name of the embedding model, such as model: 'nomic-embed-text'.",
  });
}

function limitRequests(client: LLMClient, maxRequests: number): LLMClient {
  let sent = 0;
  return {
    id: client.id,
    complete: (text, options) => {
      if (sent++ < maxRequests) return client.complete(text, options);
      throw new ConfigValidationError(`More than ${String(maxRequests)} texts would be embedded (maxRequests).`, {
        context: { parameter: 'maxRequests', maxRequests },
        suggestion: 'Increase maxRequests. Embeddings that were received are in the cache.',
      });
    },
  };
}
