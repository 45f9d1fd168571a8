import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { createRandom } from '../../internal/random.ts';
import type { Completion, CompletionOptions, LLMClient } from '../client/llm-client.ts';
import { MACHINE_CLOCK } from './clock.ts';
import {
  cancelledError,
  problemOf,
  RETRY_OPTION_NAMES,
  type RetryOptions,
  RetryPolicy,
  toRetrySettings,
  withLongWait,
} from './retry-policy.ts';
import type { RunRequestsOptions } from './run-options.ts';

/** Options of {@link withRetries}. */
export type WithRetriesOptions = RetryOptions & Pick<RunRequestsOptions, 'clock' | 'seed'>;

const WITH_RETRIES_OPTION_NAMES: OptionNames<WithRetriesOptions> = { ...RETRY_OPTION_NAMES, clock: true, seed: true };

/**
 * Returns a client that retries after transient failures, as {@link runRequests} does. The client retries up to
 * `retries` times after 5xx responses, timeouts, lost connections and responses that cannot be parsed. Waits are
 * `baseMillis` x 2^k (20% jitter, at most `capMillis`), or the time that `Retry-After` asks for, up to an hour. 429
 * responses are counted separately. Use this client for single calls. Each call handles rate limits separately, and the
 * cost of calls is not limited.
 * @throws {ValueError} if an option is out of range; the client's calls throw the last error
 * @example
 * ```ts
 * import { LLMEvalAdapter, withRetries } from 'evenhand/llm-evals';
 *
 * const client = withRetries(new LLMEvalAdapter(() => 'Hello!', { id: 'greeter' }), { retries: 2 });
 * console.log((await client.complete('Good morning')).text);
 * // Hello!
 * ```
 */
export function withRetries(client: LLMClient, options: WithRetriesOptions = {}): LLMClient {
  assertKnownOptions('withRetries', options, WITH_RETRIES_OPTION_NAMES);
  const settings = toRetrySettings(options);
  const random = createRandom(options.seed ?? 42);
  const clock = options.clock ?? MACHINE_CLOCK;
  const complete = async (prompt: string, completionOptions: CompletionOptions = {}): Promise<Completion> => {
    const policy = new RetryPolicy(settings, random);
    for (;;) {
      try {
        return await client.complete(prompt, completionOptions);
      } catch (error) {
        const problem = problemOf(error);
        const waitMillis = problem === undefined || problem.isFatal ? null : policy.waitAfter(problem);
        if (waitMillis === null) throw problem === undefined ? error : withLongWait(error, problem);
        await clock.sleep(waitMillis, completionOptions.signal);
      }
      if (completionOptions.signal?.aborted === true) throw cancelledError();
    }
  };
  return Object.freeze({ id: client.id, complete });
}
