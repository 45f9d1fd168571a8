import { assertKnownOptions } from '../../../internal/known-options.ts';
import { createRandom } from '../../../internal/random.ts';
import type { AlertTransition } from '../../alarms/alert-event.ts';
import { logQuietly } from '../../records/file/log-quietly.ts';
import type { AlertSink } from '../alert-sink.ts';
import { transitionToJson } from '../transition-json.ts';
import { transitionText } from '../transition-text.ts';
import { deliver, type WebhookMessage } from './deliver.ts';
import {
  toWebhookSettings,
  WEBHOOK_SINK_OPTION_NAMES,
  type WebhookSettings,
  type WebhookSinkOptions,
} from './webhook-options.ts';

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
