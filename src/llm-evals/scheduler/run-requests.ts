import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { RequestRun } from './request-run.ts';
import { RUN_REQUESTS_OPTION_NAMES, type RunRequestsOptions, type RunSummary, toRunSettings } from './run-options.ts';

/**
 * Sends many requests to a model: concurrently, at a rate that the server accepts, within a budget, and without losing
 * any answer.
 *
 * - `concurrency` requests are under way at most, one for each key.
 * - A request is tried again after faults that may pass: `retries` times, after `baseMillis` x 2^k (20% jitter, at most
 *   `capMillis`), or as long as `Retry-After` asks; then nobody else starts in that time either. Where it asks for more
 *   than an hour nobody waits: the request is given up and its error says so; ten such requests in a row end the run.
 * - "Too many requests" (429) halves the rate at which requests start, as measured over the last seconds; every 5
 *   answers raise it by half (to what was refused, and beyond, no more often than every 2 s), until it holds nobody
 *   back. It does not count as a fault of the request, which is given up after `rateLimitTries` of them.
 * - Limits are hard: every attempt counts, and what those under way may take at most is put aside before another
 *   starts. An attempt that may be charged although no count came (it was cut, or took too long) counts with its
 *   ceiling. Limits of tokens and money hold as far as `estimateTokens` is not too low. After `limits.minutes` nothing
 *   starts; what is under way has its time.
 * - A spent limit or an aborted signal ends the run cleanly: `stopped` says what, `notSent` how many requests have no
 *   outcome. They have no record, so that a later run asks them.
 * - The log explains missing answers: the first retried failure of each kind, and waits above 10 s. `lastFault` has the
 *   last error message.
 * - A request that fails for good gets a record with its error.
 * @throws {LLMClientError} for a fault that every request would have (a wrong key, no such model, no credit), or where
 * the first 10 requests all fail, or 10 in a row are told to wait above an hour: after what is under way has ended and
 * was kept; its context has the `summary`
 * @throws {ValueError} for an option out of range
 * @throws what `onAnswer` throws, or the client's error where it is one of this package and no LLMClientError
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
  // The same key is the same question: its answer is one answer.
  const distinct = new Map(requests.map((request) => [request.key, request]));
  return new RequestRun([...distinct.values()], settings).run();
}
