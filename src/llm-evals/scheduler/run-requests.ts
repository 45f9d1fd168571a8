import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { RequestRun } from './request-run.ts';
import { RUN_REQUESTS_OPTION_NAMES, type RunRequestsOptions, type RunSummary, toRunSettings } from './run-options.ts';

/**
 * Sends many requests to a model concurrently. Respects the rate limits of the server and a budget, and never loses an
 * answer.
 *
 * - At most `concurrency` requests are in flight, one per key.
 * - Transient failures are retried `retries` times, after `baseMillis` x 2^k (20% jitter, at most `capMillis`), or
 *   after the time that `Retry-After` asks for. No other request starts during that time. If the server asks to wait
 *   more than an hour, the request fails with an error that says so. Ten such requests in a row end the run.
 * - "Too many requests" (429) halves the rate at which requests start, as measured over the last seconds. After every 5
 *   answers, the rate is raised by half, until it does not delay any request. Above the rejected rate, it rises at most
 *   every 2 s. These responses do not count as failures of the request, which fails after `rateLimitTries` of them.
 * - Limits are strict. Every attempt counts, and the maximum usage of an attempt is reserved before it starts. An
 *   attempt that may be charged but has no token count (it was interrupted or timed out) counts with its ceiling.
 *   Limits of tokens and cost hold unless `estimateTokens` is too low. After `limits.minutes`, no attempt starts;
 *   attempts in flight may finish.
 * - A limit that is reached or an aborted signal ends the run without an error. `stopped` is then the reason, and
 *   `notSent` the number of requests without an outcome. These requests have no record, so that a later run sends them.
 * - The log explains missing answers: the first retried failure of each kind, and waits above 10 s. `lastFailure` is
 *   the last error message.
 * - A request that fails finally gets a record with its error.
 * @throws {LLMClientError} if every request would fail in the same way (a wrong key, no such model, no credit), if the
 * first 10 requests all fail, or if the server asks 10 requests in a row to wait more than an hour. It is thrown after
 * the requests in flight have ended and were recorded; its context contains the `summary`.
 * @throws {ValueError} if an option is out of range
 * @throws the errors of `onAnswer`, and the client's errors of this package that are not an LLMClientError
 * @example
 * ```ts
 * import { LLMEvalAdapter, requestKey, runRequests } from 'evenhand/llm-evals';
 *
 * const client = new LLMEvalAdapter((prompt) => `You said: ${prompt}`, { id: 'echo' });
 * const requests = ['one', 'two', 'three'].map((prompt) => {
 *   const asked = { prompt, repeat: 0, params: {} };
 *   return { ...asked, key: requestKey({ ...asked, provider: 'function', baseUrl: null, model: 'echo' }) };
 * });
 * const summary = await runRequests(requests, {
 *   client,
 *   concurrency: 1,
 *   limits: { requests: 2 },
 *   estimateTokens: ({ prompt }) => ({ input: prompt.length, outputCeiling: 16 }),
 *   onAnswer: ({ text }) => console.log(text),
 * });
 * console.log(summary.answered, summary.notSent, summary.stopped);
 * // You said: one
 * // You said: two
 * // 2 1 requests
 * ```
 */
export async function runRequests(requests: readonly LLMRequest[], options: RunRequestsOptions): Promise<RunSummary> {
  assertKnownOptions('runRequests', options, RUN_REQUESTS_OPTION_NAMES);
  const settings = toRunSettings(options);
  // Requests with the same key share one answer.
  const distinct = new Map(requests.map((request) => [request.key, request]));
  return new RequestRun([...distinct.values()], settings).run();
}
