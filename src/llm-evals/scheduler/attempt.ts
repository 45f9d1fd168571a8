import { whenAborted } from '../../internal/retry.ts';
import { fieldsOf, isAmount, isTokenAmount } from '../client/client-error.ts';
import {
  type Completion,
  type CompletionOptions,
  FINISH_REASONS,
  type LLMClient,
  type TokenUsage,
} from '../client/llm-client.ts';
import type { SchedulerClock } from './clock.ts';
import { cancelledError, malformedError, timeoutError } from './retry-policy.ts';

/** The settings of an attempt. */
export interface AttemptSettings {
  readonly client: LLMClient;
  /**
   * The time limit, in milliseconds. When the limit is reached, the signal that was passed to the client is aborted.
   */
  readonly timeoutMillis: number;
  readonly clock: SchedulerClock;
}

/**
 * Sends a prompt once and returns the completion. Stops waiting when the time limit is reached or the signal is
 * aborted, even if the client ignores its signal. If such a client returns a result later, the result is discarded.
 * @throws {LLMClientError} the error of the client, or an error of kind `timeout` or `cancelled` if the attempt was
 * stopped
 */
export async function attemptOnce(
  { client, timeoutMillis, clock }: AttemptSettings,
  prompt: string,
  { signal, ...options }: CompletionOptions,
): Promise<Completion> {
  if (signal?.aborted === true) throw cancelledError();
  const ending = new AbortController();
  const cancel = (): void => {
    ending.abort(cancelledError());
  };
  signal?.addEventListener('abort', cancel);
  const isOver = new AbortController();
  try {
    // The async function converts a synchronous error to a rejection.
    const answer = (async () => client.complete(prompt, { ...options, signal: ending.signal }))();
    void clock.sleep(timeoutMillis, isOver.signal).then(() => {
      if (!isOver.signal.aborted) ending.abort(timeoutError(timeoutMillis));
    });
    return checked(await Promise.race([answer, whenAborted(ending.signal)]));
  } catch (error) {
    // The reason of the abort is more informative than the error that an aborted client throws.
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    isOver.abort();
    signal?.removeEventListener('abort', cancel);
  }
}

/**
 * Validates a completion. Invalid fields other than the text are replaced by defaults, because the completion has been
 * paid for.
 * @throws {LLMClientError} of kind `malformed` if there is no text
 */
function checked(completion: Completion): Completion {
  const text: unknown = (completion as Completion | null | undefined)?.text;
  if (typeof text !== 'string') throw malformedError(text === undefined ? completion : text);
  const { finishReason, isRefusal, usage, cached, latencyMillis } = completion as unknown as Record<string, unknown>;
  return {
    text,
    finishReason: FINISH_REASONS.find((known) => known === finishReason) ?? 'other',
    ...(typeof isRefusal === 'boolean' ? { isRefusal } : {}),
    usage: usageOf(usage),
    cached: cached === true,
    latencyMillis: isAmount(latencyMillis) ? latencyMillis : 0,
  };
}

/** Returns null for invalid usage. The caller then counts the maximum usage of the request instead. */
function usageOf(given: unknown): TokenUsage | null {
  const { inputTokens, outputTokens } = fieldsOf(given) ?? {};
  return isTokenAmount(inputTokens) && isTokenAmount(outputTokens) ? { inputTokens, outputTokens } : null;
}
