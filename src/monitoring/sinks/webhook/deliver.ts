import { setTimeout as sleep } from 'node:timers/promises';

import type { Random } from '../../../internal/random.ts';
import { retryAfterMillis } from './retry-after.ts';
import { retryWaitMillis } from './retry-wait.ts';
import { TimeLimitError, withinLimit } from './time-limit.ts';
import type { WebhookSettings } from './webhook-options.ts';

/** What is posted. */
export interface WebhookMessage {
  readonly body: string;
  /** The same for all tries, so that the other side can tell them from another alert. */
  readonly idempotencyKey: string;
}

/** Why a try failed. */
interface Refusal {
  readonly reason: string;
  /** Whether the same may well succeed later. */
  readonly isPassing: boolean;
  readonly retryAfterMillis?: number | undefined;
}

/** What is read of an answer, so that the connection can be used again; nothing in it is needed. */
const MOST_ANSWER_BYTES = 2 ** 14;
const MOST_ANSWER_MILLIS = 1000;

/**
 * Posts a message until it is accepted or given up.
 * @param stop ends the try or the wait that goes on
 * @returns why it was given up; undefined once it was delivered
 */
export async function deliver(
  settings: WebhookSettings,
  message: WebhookMessage,
  random: Random,
  stop: AbortSignal,
): Promise<string | undefined> {
  for (let retry = 0; ; retry++) {
    const refusal = await tryOnce(settings, message, stop);
    if (refusal === undefined) return undefined;
    if (!refusal.isPassing || retry >= settings.retries || stop.aborted) return refusal.reason;
    const wait = retryWaitMillis(settings.backoffMillis, retry, refusal.retryAfterMillis, random);
    const isOver = await sleep(wait, undefined, { signal: stop }).then(
      () => true,
      () => false,
    );
    if (!isOver) return refusal.reason;
  }
}

async function tryOnce(
  { address, headers, timeoutMillis, fetch }: WebhookSettings,
  { body, idempotencyKey }: WebhookMessage,
  stop: AbortSignal,
): Promise<Refusal | undefined> {
  try {
    const response = await withinLimit(timeoutMillis, stop, (signal) =>
      fetch(address, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body,
        // A redirect would turn a POST into a GET, or carry credentials elsewhere.
        redirect: 'manual',
        signal,
      }),
    );
    // Beyond the limit of time: what was accepted must not be sent again because its answer is slow to end.
    await passOver(response, stop);
    return refusalOf(response);
  } catch (cause) {
    return { reason: faultOf(cause), isPassing: true };
  }
}

function refusalOf({ status, ok, headers }: Response): Refusal | undefined {
  if (ok) return undefined;
  if (status >= 300 && status < 400) {
    return { reason: `it redirects (HTTP ${String(status)}); name the final address`, isPassing: false };
  }
  return {
    reason: `it answered HTTP ${String(status)}`,
    isPassing: status === 429 || status >= 500,
    retryAfterMillis: retryAfterMillis(headers),
  };
}

/** Takes the beginning of an answer from the network and leaves the rest there; its status is known by now. */
async function passOver({ body }: Response, stop: AbortSignal): Promise<void> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const read = async (): Promise<void> => {
    for (let bytes = 0; bytes < MOST_ANSWER_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
  };
  await withinLimit(MOST_ANSWER_MILLIS, stop, read).catch(() => undefined);
  void reader.cancel().catch(() => undefined);
}

/** Names the system's code alone, since messages of errors may hold the address. */
function faultOf(cause: unknown): string {
  if (cause instanceof TimeLimitError) return cause.message;
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
  const code = inner instanceof Error && 'code' in inner ? ` (${String(inner.code)})` : '';
  return `it cannot be reached${code}`;
}
