import { assertKnownOptions } from '../../internal/arguments.ts';
import { fetchFailureOf, retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import { backoffMillis, sleep, whenAborted, withTimeLimit } from '../../internal/retry.ts';
import type { AlertSink, AlertTransition } from '../alarms/alert-event.ts';
import { logQuietly } from '../records/file/file-functions.ts';
import { transitionText, transitionToJson } from './transition-json.ts';
import {
  toWebhookSettings,
  WEBHOOK_SINK_OPTION_NAMES,
  type WebhookSettings,
  type WebhookSinkOptions,
} from './webhook-options.ts';

/** The reason why an attempt was stopped: its time limit was reached, or the sink was closed. */
class TimeLimitError extends Error {}

/**
 * Runs work with a signal that is aborted when the time limit is reached or when `outer` is aborted. When the signal is
 * aborted, the returned promise is rejected, even if the work ignores the signal. For example, a custom `fetch` may
 * ignore the signal.
 * @param millis the limit, in milliseconds
 * @throws {TimeLimitError} when the time limit is reached; the promise also rejects if `outer` is aborted or the work
 *   fails
 */
function endWithin<Result>(
  millis: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const exceeded = (): Error => new TimeLimitError(`there was no answer within ${String(millis / 1000)} s`);
  return withTimeLimit(millis, exceeded, outer, (signal) => Promise.race([whenAborted(signal), work(signal)]));
}

/**
 * The maximum delay before a retry, even if the server requests a longer delay. The delay is limited because later
 * alerts wait for this alert.
 */
const MAX_WAIT_MILLIS = 300_000;

/**
 * Returns the wait before a retry, in milliseconds: a random time between half of `backoffMillis` x 2^retry and the
 * full value. Because the time is random, senders that failed at the same time do not retry at the same time. The wait
 * is at least as long as the server requests, and at most 5 minutes.
 * @param retry the number of earlier retries
 */
export function retryWaitMillis(
  baseMillis: number,
  retry: number,
  askedMillis: number | undefined,
  random: Random,
): number {
  const jittered = backoffMillis(retry, { baseMillis, jitter: { min: 0.5, max: 1, random } });
  return Math.min(MAX_WAIT_MILLIS, Math.max(jittered, askedMillis ?? 0));
}

/** The content of one request. */
interface WebhookMessage {
  readonly body: string;
  /** A key that is the same for all attempts to send an alert, so that the receiver can drop duplicates. */
  readonly idempotencyKey: string;
}

/** The reason why an attempt failed. */
interface Refusal {
  readonly reason: string;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  readonly retryAfterMillis?: number | undefined;
}

/**
 * The maximum number of bytes read from a response's body. The body is not used, but the connection can be reused only
 * after the body has ended.
 */
const MAX_ANSWER_BYTES = 2 ** 14;
const MAX_ANSWER_MILLIS = 1000;

/**
 * Posts a message until the server accepts it or no more retries are allowed.
 * @param stop the signal that stops the current attempt or wait
 * @returns the reason why the message was not delivered; undefined if it was delivered
 */
async function deliver(
  settings: WebhookSettings,
  message: WebhookMessage,
  random: Random,
  stop: AbortSignal,
): Promise<string | undefined> {
  for (let retry = 0; ; retry++) {
    const refusal = await tryOnce(settings, message, stop);
    if (refusal === undefined) return undefined;
    if (!refusal.isTransient || retry >= settings.retries || stop.aborted) return refusal.reason;
    const wait = retryWaitMillis(settings.backoffMillis, retry, refusal.retryAfterMillis, random);
    const isOver = await sleep(wait, stop).then(
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
    const response = await endWithin(timeoutMillis, stop, (signal) =>
      fetch(address, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body,
        // A redirect would turn a POST into a GET, or send credentials to another host.
        redirect: 'manual',
        signal,
      }),
    );
    // The body is read outside the time limit. An accepted alert must not be sent again only because the body is slow.
    await drain(response, stop);
    return refusalOf(response);
  } catch (cause) {
    return { reason: failureOf(cause), isTransient: true };
  }
}

function refusalOf({ status, ok, headers }: Response): Refusal | undefined {
  if (ok) return undefined;
  if (status >= 300 && status < 400) {
    return { reason: `it redirects (HTTP ${String(status)}); use the final address as url`, isTransient: false };
  }
  return {
    reason: `it answered HTTP ${String(status)}`,
    isTransient: status === 429 || status >= 500,
    retryAfterMillis: retryAfterMillis(headers, machineClock()),
  };
}

/** Reads the start of a body and cancels the rest. Never rejects. */
async function drain({ body }: Response, stop: AbortSignal): Promise<void> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const read = async (): Promise<void> => {
    for (let bytes = 0; bytes < MAX_ANSWER_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
  };
  await endWithin(MAX_ANSWER_MILLIS, stop, read).catch(() => undefined);
  void reader.cancel().catch(() => undefined);
}

/**
 * Returns why there was no response. The result includes only the system's error code, because an error message may
 * contain the address.
 */
function failureOf(cause: unknown): string {
  if (cause instanceof TimeLimitError) return cause.message;
  const { code } = fetchFailureOf(cause) ?? {};
  return `it cannot be reached${code === undefined ? '' : ` (${code})`}`;
}

/**
 * Returns a sink that posts each transition as JSON: `{ change, timestamp, alert, text }`, with keys in snake_case.
 * `text` is a one-line summary. Transitions are sent in order, one at a time.
 *
 * A request is retried after a network failure, a timeout, 429 or 5xx. Before retry k (counted from 0), the sink waits
 * for a random time between half of `backoffMillis` x 2^k and the full value. If `Retry-After` requests a longer wait,
 * the sink waits for that time. The wait is at most 5 minutes. Other responses, including redirects, are not retried.
 * Alerts that cannot be delivered are counted in `failures`. Log messages name only the server's origin. All attempts
 * to send an alert have the same `Idempotency-Key` (the alert's id, the change and its time). The receiver can thus
 * recognize an alert that arrives twice because a response was lost.
 *
 * Alerts wait in memory. Await `close` before the process ends, because waiting alerts would be lost.
 * @throws {ValueError} if the address is not http or https, or an option is out of range
 * @throws {ConfigValidationError} if the variable that `secretFromEnvironment` names is not set
 * @example
 * ```ts
 * import { webhookSink } from 'evenhand/monitoring';
 *
 * const sink = webhookSink({ url: 'https://alerts.example.org/hook', retries: 3 });
 * await sink.close();
 * console.log(sink.name, sink.failures);
 * // webhook 0
 * ```
 */
export function webhookSink(options: WebhookSinkOptions): AlertSink {
  assertKnownOptions('webhookSink', options, WEBHOOK_SINK_OPTION_NAMES);
  return new WebhookSink(toWebhookSettings(options, process.env));
}

class WebhookSink implements AlertSink {
  readonly name = 'webhook';
  readonly #settings: WebhookSettings;
  readonly #random: ReturnType<typeof createRandom>;
  readonly #stop = new AbortController();
  readonly #waiting: WebhookMessage[] = [];
  #working: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isOverfull = false;
  #failures = 0;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
    this.#random = createRandom(settings.seed);
  }

  get failures(): number {
    return this.#failures;
  }

  send(transition: AlertTransition): void {
    try {
      if (this.#closing !== undefined) {
        this.#giveUp(1, 'an alert arrived after the sink was closed');
        return;
      }
      this.#waiting.push(toMessage(transition));
      this.#dropExcess();
      this.#working ??= this.#work();
    } catch (cause) {
      this.#giveUp(1, `an alert cannot be sent: ${String(cause)}`);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #work(): Promise<void> {
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      const reason = await deliver(this.#settings, message, this.#random, this.#stop.signal);
      if (reason !== undefined) this.#giveUp(1, `alert '${message.idempotencyKey}' is given up: ${reason}`);
      this.#isOverfull &&= this.#waiting.length >= this.#settings.mostWaiting;
      if (this.#stop.signal.aborted) break;
    }
    this.#working = undefined;
  }

  async #finish(): Promise<void> {
    if (this.#working === undefined) return;
    const timer = setTimeout(() => {
      this.#stop.abort(new TimeLimitError('it was stopped'));
    }, this.#settings.closeMillis);
    await this.#working;
    clearTimeout(timer);
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#giveUp(left, `${String(left)} alerts had not been sent when the sink was closed`);
  }

  #dropExcess(): void {
    const excess = this.#waiting.length - this.#settings.mostWaiting;
    if (excess <= 0) return;
    this.#waiting.splice(0, excess);
    this.#failures += excess;
    if (this.#isOverfull) return;
    this.#isOverfull = true;
    const most = String(this.#settings.mostWaiting);
    this.#warn(`more than ${most} alerts wait, so the oldest alerts are dropped`);
  }

  #giveUp(count: number, reason: string): void {
    this.#failures += count;
    this.#warn(reason);
  }

  #warn(text: string): void {
    logQuietly('warn', `webhook at ${this.#settings.origin}: ${text}`);
  }
}

function toMessage(transition: AlertTransition): WebhookMessage {
  const { change, timestamp, alert } = transition;
  const body = { ...transitionToJson(transition), text: transitionText(transition) };
  return { body: JSON.stringify(body), idempotencyKey: headerText(`${alert.id}:${change}:${timestamp}`) };
}

/**
 * Returns a text that contains only visible ASCII characters, as headers require. Other bytes and the percent sign
 * become %XX.
 */
function headerText(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    byte > 0x20 && byte < 0x7f && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
