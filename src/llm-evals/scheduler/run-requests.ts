import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { RequestRun } from './request-run.ts';
import { RUN_REQUESTS_OPTION_NAMES, type RunRequestsOptions, type RunSummary, toRunSettings } from './run-options.ts';

/**
 * Sends many requests to a model concurrently. Respects the rate limits of the server and a budget. Passes every
 * received answer to `onAnswer`.
 *
 * - At most `concurrency` requests are in flight. Requests with the same key are sent once.
 * - Transient failures are retried `retries` times, after `baseMillis` x 2^k (20% jitter, at most `capMillis`), or
 *   after the time that `Retry-After` asks for. No other request starts during that time. If the server asks to wait
 *   more than an hour, the request fails with an error that states this. If this happens to ten consecutive requests,
 *   the run ends.
 * - "Too many requests" (429) halves the rate at which requests start, as measured over the last seconds. After every 5
 *   answers, the rate is raised by half, until it does not delay any request. Above the rejected rate, the rate is
 *   raised at most every 2 s. A 429 response does not count as a failure of the request. A request fails after
 *   `rateLimitTries` such responses.
 * - Limits are strict. Every attempt counts, and the maximum usage of an attempt is reserved before it starts. If an
 *   attempt was interrupted or timed out, it has no token count but may be charged. Such an attempt counts with its
 *   maximum usage. Limits of tokens and cost are never exceeded unless `estimateTokens` is too low. After
 *   `limits.minutes`, no new attempt starts, but attempts in flight may finish.
 * - If a limit is reached or the signal is aborted, the run ends without an error. `stopped` is then the reason, and
 *   `notSent` the number of requests without an outcome. These requests have no record, so a later run sends them.
 * - The log explains missing answers: the first retried failure of each kind, and waits of more than 10 s.
 *   `lastFailure` is the last error message.
 * - A request that failed and is not retried gets a record with its error.
 * @throws {LLMClientError} if every request would fail in the same way (a wrong key, no such model, no credit), if the
 * first 10 requests all fail, or if the server asks 10 requests in a row to wait more than an hour. The error is thrown
 * after the requests in flight have ended and have been recorded. The context of the error contains the `summary`.
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
