import { setTimeout as sleep } from 'node:timers/promises';

import { assertKnownOptions } from '../../internal/arguments.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import type { AlertSink, AlertTransition } from '../alarms/alert-event.ts';
import { logQuietly } from '../records/file/file-functions.ts';
import { transitionText, transitionToJson } from './transition-json.ts';
import {
  toWebhookSettings,
  WEBHOOK_SINK_OPTION_NAMES,
  type WebhookSettings,
  type WebhookSinkOptions,
} from './webhook-options.ts';

/** Time that is up, or work that was stopped from outside. */
class TimeLimitError extends Error {}

/**
 * Runs work with a signal that is raised when time is up or when `outer` is.
 * Ends then even where the work does not heed the signal.
 * @throws {TimeLimitError} when time is up or `outer` was raised; else whatever the work throws
 */
async function withinLimit<T>(
  millis: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const end = (reason: string): void => {
      const error = new TimeLimitError(reason);
      reject(error);
      controller.abort(error);
    };
    stop = () => {
      end('it was stopped');
    };
    timer = setTimeout(() => {
      end(`there was no answer within ${String(millis / 1000)} s`);
    }, millis);
    outer.addEventListener('abort', stop, { once: true });
    if (outer.aborted) stop();
  });
  try {
    return await Promise.race([limit, work(controller.signal)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', stop);
  }
}

/** No wait is longer, whatever the server asks for: later alerts wait behind this one. */
const MAX_WAIT_MILLIS = 300_000;

/**
 * How long to wait before a retry: between half and all of `backoffMillis` x
 * 2^retry, so that many senders do not come back at once, and at least as long
 * as the server asks; at most 5 minutes.
 * @param retry counted from 0
 */
export function retryWaitMillis(
  backoffMillis: number,
  retry: number,
  askedMillis: number | undefined,
  random: Random,
): number {
  // Beyond, the cap has long been reached, and 0 x Infinity would be no number.
  const jittered = backoffMillis * 2 ** Math.min(retry, 60) * (0.5 + random.next() / 2);
  return Math.min(MAX_WAIT_MILLIS, Math.max(jittered, askedMillis ?? 0));
}

/** What is posted. */
interface WebhookMessage {
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
const MAX_ANSWER_BYTES = 2 ** 14;
const MAX_ANSWER_MILLIS = 1000;

/**
 * Posts a message until it is accepted or given up.
 * @param stop ends the try or the wait that goes on
 * @returns why it was given up; undefined once it was delivered
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
    for (let bytes = 0; bytes < MAX_ANSWER_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
  };
  await withinLimit(MAX_ANSWER_MILLIS, stop, read).catch(() => undefined);
  void reader.cancel().catch(() => undefined);
}

/** Names the system's code alone, since messages of errors may hold the address. */
function faultOf(cause: unknown): string {
  if (cause instanceof TimeLimitError) return cause.message;
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
  const code = inner instanceof Error && 'code' in inner ? ` (${String(inner.code)})` : '';
  return `it cannot be reached${code}`;
}

/**
 * How long a server asks to wait, in milliseconds: seconds, or a date, which is
 * compared with the server's own clock. Undefined where it does not say, or the
 * clock is missing.
 */
export function retryAfterMillis(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const wait = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/**
 * A sink that posts each transition as JSON: `{ change, timestamp, alert, text }`,
 * keys in snake_case, `text` one line for people. In their order, one at a time.
 *
 * A try that fails by the network, in time, with 429 or with 5xx is repeated
 * after waits that double (between half and all of `backoffMillis` x 2^k, chosen
 * by seed), or as long as `Retry-After` asks, at most 5 minutes. Other answers,
 * redirects among them, are final. What is given up is counted in `failures`
 * and logged, with the server's origin alone. Each try carries the same
 * `Idempotency-Key` (the alert's id, the change and its time), since an alert
 * may arrive twice where an answer was lost.
 *
 * Alerts wait in memory: they are lost with the process, unless `close` is awaited.
 * @throws {ValueError} for an address that is not http or https, or an option out of range
 * @throws {ConfigValidationError} where the variable that `secretFromEnvironment` names is not set
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
        this.#giveUp(1, 'an alert came after it was closed');
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
      this.#stop.abort();
    }, this.#settings.closeMillis);
    await this.#working;
    clearTimeout(timer);
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#giveUp(left, `${String(left)} alerts were not sent when it was closed`);
  }

  #dropExcess(): void {
    const excess = this.#waiting.length - this.#settings.mostWaiting;
    if (excess <= 0) return;
    this.#waiting.splice(0, excess);
    this.#failures += excess;
    if (this.#isOverfull) return;
    this.#isOverfull = true;
    const most = String(this.#settings.mostWaiting);
    this.#tell(`more than ${most} alerts wait, so the oldest are dropped`);
  }

  #giveUp(count: number, reason: string): void {
    this.#failures += count;
    this.#tell(reason);
  }

  #tell(text: string): void {
    logQuietly('warn', `webhook at ${this.#settings.origin}: ${text}`);
  }
}

function toMessage(transition: AlertTransition): WebhookMessage {
  const { change, timestamp, alert } = transition;
  const body = { ...transitionToJson(transition), text: transitionText(transition) };
  return { body: JSON.stringify(body), idempotencyKey: headerText(`${alert.id}:${change}:${timestamp}`) };
}

/** A text with visible ASCII alone, as a header needs; other bytes, and the percent sign, as %xx. */
function headerText(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    byte > 0x20 && byte < 0x7f && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
