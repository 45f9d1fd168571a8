import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { backoffMillis, settleWithin, sleep } from '../../internal/retry.ts';
import { fieldProblem, ServiceProblem } from '../problem/service-problem.ts';
import type { RunRecord, Runs } from '../runs/runs.ts';
import { checkWebhookUrl, signatureOf, WEBHOOK_PARAMETER, type WebhookSettings } from './webhooks.ts';

/** The time limit of one attempt. */
const ATTEMPT_MILLIS = 10_000;
/** The number of attempts, and the pauses between them: 1, 2, 4 and 8 seconds. */
const ATTEMPTS = 5;
const BACKOFF = { baseMillis: 1000, capMillis: 8000 };
/** The maximum number of runs whose end is awaited or reported at the same time. */
const MAX_PENDING = 1000;
/** The time for which webhooks can still be delivered when the service ends. */
const END_MILLIS = 1000;

/** A run whose end has to be reported. */
export interface DueWebhook {
  readonly runId: string;
  readonly url: string;
  /** The ID of the message, which is the same in every attempt, also after a restart. */
  readonly delivery: string;
}

/** Where webhooks are stored until they are delivered or given up. */
export interface WebhookStore {
  /** Stores a webhook. When the promise has resolved, the webhook survives the end of this process. */
  add(due: DueWebhook): Promise<void>;
  remove(due: DueWebhook): Promise<void>;
  /**
   * Returns the webhooks that nobody delivers, which are then this process's own.
   * @param own the webhooks that this process delivers
   */
  take(own: readonly DueWebhook[]): Promise<readonly DueWebhook[]>;
  /** The time after which to call `take` again, in milliseconds; undefined if other processes use no store of this kind. */
  readonly takeMillis: number | undefined;
}

/** Reports the ends of runs. */
export interface WebhookSender {
  /**
   * Reports the end of a run to an address that was checked. Resolves when the webhook is stored.
   * @throws {ServiceProblem} 503 if too many webhooks are waiting, or the store has no room
   */
  add(webhook: Pick<DueWebhook, 'runId' | 'url'>): Promise<void>;
}

/** Options of {@link WebhookDeliveries}. */
export interface WebhookDeliveriesOptions extends WebhookSettings {
  readonly runs: Pick<Runs, 'wait'>;
  /** Undefined if webhooks end with this process. */
  readonly store: WebhookStore | undefined;
  /** The path at which the app is mounted. */
  readonly basePath: string;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'warn'>;
  /** @defaultValue globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * A factor of the pauses between attempts.
   * @defaultValue 1
   */
  readonly pace?: number | undefined;
}

/**
 * Reports the ends of runs to the addresses of clients. With a store, a webhook is delivered at least once, although
 * processes may be killed, unless its receiver refuses all attempts.
 */
export class WebhookDeliveries implements WebhookSender {
  readonly #options: WebhookDeliveriesOptions;
  readonly #pending = new Map<DueWebhook, Promise<void>>();
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isTaking = false;

  constructor(options: WebhookDeliveriesOptions) {
    this.#options = options;
  }

  /** Delivers the webhooks that earlier or lost processes have left, now and from time to time. */
  async start(): Promise<void> {
    const { store, hosts } = this.#options;
    // Without hosts, webhooks are left to a process that may send them.
    if (store === undefined || hosts.length === 0) return;
    await this.#takeLeft(store);
    if (store.takeMillis === undefined) return;
    this.#timer = setInterval(() => void this.#takeLeft(store), store.takeMillis);
    this.#timer.unref();
  }

  async add({ runId, url }: Pick<DueWebhook, 'runId' | 'url'>): Promise<void> {
    if (this.#pending.size >= MAX_PENDING) {
      throw fieldProblem(503, WEBHOOK_PARAMETER, 'Too many webhooks are waiting.', 'Send the request again later.');
    }
    const due = Object.freeze({ runId, url, delivery: randomUUID() });
    await this.#options.store?.add(due);
    this.#begin(due);
  }

  /** Waits for the current attempts. The others are left to the store, if there is one. */
  async close(millis: number = END_MILLIS): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort(new Error('the service ended'));
    await settleWithin(millis, this.#pending.values());
  }

  /** Never rejects. */
  async #takeLeft(store: WebhookStore): Promise<void> {
    if (this.#isTaking || this.#ending.signal.aborted) return;
    this.#isTaking = true;
    try {
      for (const due of await store.take([...this.#pending.keys()])) this.#begin(due);
    } catch (error) {
      // A store of several hosts that does not answer is asked again.
      if (!(error instanceof ServiceProblem))
        this.#options.logger.warn({ err: error }, 'the webhooks of earlier processes cannot be read');
    } finally {
      this.#isTaking = false;
    }
  }

  #begin(due: DueWebhook): void {
    const work = this.#deliver(due)
      .catch((error: unknown) => {
        const { runId, url } = due;
        const host = new URL(url).host;
        this.#options.logger.warn({ err: error, host, runId }, 'a webhook could not be delivered');
      })
      .finally(() => this.#pending.delete(due));
    this.#pending.set(due, work);
  }

  async #deliver(due: DueWebhook): Promise<void> {
    const { runs, store } = this.#options;
    let isLeft = false;
    try {
      // The list of hosts may have changed since the webhook was stored.
      checkWebhookUrl(this.#options, due.url);
      const record = await runs.wait(due.runId).catch((error: unknown) => {
        // The service ends, or does not reach the store of its runs. Nothing is known of the run.
        isLeft = !(error instanceof ServiceProblem) || error.status === 503;
        throw error;
      });
      isLeft = await this.#send(due, record);
    } catch (error) {
      if (!isLeft || store === undefined) throw error;
    } finally {
      if (!isLeft) await store?.remove(due);
    }
  }

  /**
   * Makes the attempts.
   * @returns whether the webhook is left to a later process
   * @throws the failure of the last attempt
   */
  async #send({ url, delivery }: DueWebhook, record: RunRecord): Promise<boolean> {
    const { clock, pace = 1, store } = this.#options;
    const body = JSON.stringify(this.#bodyOf(record));
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) {
        const millis = backoffMillis(attempt - 1, BACKOFF);
        await sleep(millis * pace, this.#ending.signal).catch(() => undefined);
        if (this.#ending.signal.aborted) {
          if (store !== undefined) return true;
          break;
        }
      }
      failure = await this.#attempt(url, body, delivery, Math.floor(clock() / 1000));
      if (failure === undefined) return false;
      if (failure instanceof FinalFailure) break;
    }
    throw failure;
  }

  /** Makes one attempt, and returns why it failed. */
  async #attempt(url: string, body: string, delivery: string, seconds: number): Promise<unknown> {
    const { secret, fetch = globalThis.fetch } = this.#options;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-evenhand-delivery': delivery,
          'x-evenhand-signature': signatureOf(secret, seconds, body),
        },
        body,
        // A redirect could lead to a host that is not allowed.
        redirect: 'manual',
        signal: AbortSignal.timeout(ATTEMPT_MILLIS),
      });
      await answer.body?.cancel();
      if (answer.ok) return undefined;
      const error = `The receiver answered ${String(answer.status)}.`;
      const isTemporary = answer.status >= 500 || answer.status === 429 || answer.status === 408;
      return isTemporary ? new Error(error) : new FinalFailure(error);
    } catch (error) {
      return error;
    }
  }

  #bodyOf({ runId, endpoint, status, createdAt, finishedAt, problem }: RunRecord): Record<string, unknown> {
    return {
      type: 'run.ended',
      run_id: runId,
      endpoint,
      status,
      created_at: createdAt,
      finished_at: finishedAt,
      problem,
      result: `${this.#options.basePath}/results/${runId}`,
    };
  }
}

/** A failure that another attempt would not change. */
class FinalFailure extends Error {}
