import { FINISH_REASONS } from '../cache/completion-json.ts';
import { fieldsOf, isTokenAmount } from '../client/client-error.ts';
import type { Completion, CompletionOptions, LLMClient, TokenUsage } from '../client/llm-client.ts';
import type { SchedulerClock } from './clock.ts';
import { cancelledError, malformedError, timeoutError } from './retry-policy.ts';

/** The settings of one attempt. */
export interface AttemptSettings {
  readonly client: LLMClient;
  /** The maximum duration. The client's signal is aborted after it. */
  readonly timeoutMillis: number;
  readonly clock: SchedulerClock;
}

/**
 * Makes one attempt. It ends at the time limit and when the signal is aborted, even if the client ignores its own
 * signal. A later answer of such a client is lost.
 * @throws {LLMClientError} as the client does; of kind `timeout` or `cancelled` if the attempt is ended
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
    // An async function, so that a synchronous error of a client becomes a rejection too.
    const answer = (async () => client.complete(prompt, { ...options, signal: ending.signal }))();
    void clock.sleep(timeoutMillis, isOver.signal).then(() => {
      if (!isOver.signal.aborted) ending.abort(timeoutError(timeoutMillis));
    });
    return checked(await Promise.race([answer, rejectionOn(ending.signal)]));
  } catch (error) {
    // Most clients reject with their own error when they are ended. The reason is better known here.
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    isOver.abort();
    signal?.removeEventListener('abort', cancel);
  }
}

function rejectionOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

/**
 * Normalizes an answer to the format of transcripts and caches. Invalid fields besides the text are omitted, because
 * the answer is paid for.
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
    latencyMillis:
      typeof latencyMillis === 'number' && latencyMillis >= 0 && latencyMillis < Infinity ? latencyMillis : 0,
  };
}

/** null for what is none: then the ceiling of the request counts. */
function usageOf(given: unknown): TokenUsage | null {
  const { inputTokens, outputTokens } = fieldsOf(given) ?? {};
  return isTokenAmount(inputTokens) && isTokenAmount(outputTokens) ? { inputTokens, outputTokens } : null;
}
