import { createHmac, randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { backoffMillis, settleWithin, sleep } from '../../internal/retry.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import type { RunRecord } from '../runs/runs.ts';

/** The name of the query parameter of an address that is called when a run has ended. */
export const WEBHOOK_PARAMETER = 'webhook_url';

/** The minimum length of the secret, so that a receiver can rely on the signature. */
const MIN_SECRET = 16;
/** The maximum length of an address. */
const MAX_URL_LENGTH = 2000;
/** The time limit of one attempt. */
const ATTEMPT_MILLIS = 10_000;
/** The number of attempts, and the pauses between them: 1, 2, 4 and 8 seconds. */
const ATTEMPTS = 5;
const BACKOFF = { baseMillis: 1000, capMillis: 8000 };
/** The maximum number of runs whose end is awaited or reported at the same time. */
const MAX_PENDING = 1000;

/** Options of {@link Webhooks}. */
export interface WebhooksOptions {
  /** The hosts that may be called, such as `hooks.example.com` or `10.0.0.7:8443`. Without any, webhooks are refused. */
  readonly hosts: readonly string[];
  readonly secret: string;
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
 * Checks the options of webhooks.
 * @throws {ConfigValidationError} if a host is not one, or hosts are named without a sufficient secret
 */
export function checkWebhooks(hosts: readonly string[], secret: string): void {
  const wrong = hosts.find((host) => !isHost(host));
  if (wrong !== undefined) {
    throw new ConfigValidationError(`'${wrong}' is not a host that webhooks can call.`, {
      context: { parameter: 'webhookHosts', value: wrong },
      suggestion: 'Name a host, perhaps with a port, such as hooks.example.com or 10.0.0.7:8443.',
    });
  }
  if (hosts.length === 0 || secret.length >= MIN_SECRET) return;
  throw new ConfigValidationError(
    `Webhooks need a secret of at least ${String(MIN_SECRET)} characters, with which they are signed.`,
    {
      context: { variable: 'EVENHAND_WEBHOOK_SECRET' },
      suggestion: 'Set EVENHAND_WEBHOOK_SECRET, for example to the output of: openssl rand -hex 24',
    },
  );
}

function isHost(given: string): boolean {
  if (!URL.canParse(`http://${given}`)) return false;
  const { host, username, pathname, search, hash } = new URL(`http://${given}`);
  return host !== '' && username === '' && pathname === '/' && `${search}${hash}` === '' && !/[/?#@\s]/.test(given);
}

/**
 * Returns the signature of a webhook: the time and the HMAC-SHA256 of the time, a dot and the body, as
 * `t=1700000000,v1=5257a8…`. The time lets a receiver refuse an old message that is sent again.
 */
export function signatureOf(secret: string, seconds: number, body: string): string {
  const digest = createHmac('sha256', secret)
    .update(`${String(seconds)}.${body}`)
    .digest('hex');
  return `t=${String(seconds)},v1=${digest}`;
}

/** Reports the ends of runs to addresses that clients name, if the operator allows their hosts. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #allowed: ReadonlySet<string>;
  readonly #pending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(options: WebhooksOptions) {
    this.#options = options;
    this.#allowed = new Set(options.hosts.map((host) => host.toLowerCase()));
  }

  /**
   * Checks an address. Only the listed hosts can be called, because the service may reach hosts that its clients cannot.
   * @throws {ServiceProblem} 403 if its host is not allowed, 422 if it is not a usable address
   */
  check(given: string): void {
    const url = given.length <= MAX_URL_LENGTH && URL.canParse(given) ? new URL(given) : undefined;
    if (
      url === undefined ||
      !['http:', 'https:'].includes(url.protocol) ||
      url.username !== '' ||
      url.password !== ''
    ) {
      const detail = `${WEBHOOK_PARAMETER} must be an http or https address without a user name and a password.`;
      throw fieldProblem(
        422,
        WEBHOOK_PARAMETER,
        detail,
        'Encode the address, as in ?webhook_url=https%3A%2F%2Fhooks.example.com%2Fdone.',
      );
    }
    // `host` has a port only if it is not the default one of the scheme.
    if (!this.#allowed.has(url.host)) {
      const detail = `This service sends no webhooks to ${url.host}.`;
      throw fieldProblem(
        403,
        WEBHOOK_PARAMETER,
        detail,
        'Ask the operator of the service to allow it with --webhook-host.',
      );
    }
    if (this.#pending.size >= MAX_PENDING) {
      throw fieldProblem(503, WEBHOOK_PARAMETER, 'Too many webhooks are waiting.', 'Send the request again later.');
    }
  }

  /** Reports the end of a run. Never rejects. */
  notify(ended: Promise<RunRecord>, url: string): void {
    const work = this.#deliver(ended, url).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, host: new URL(url).host }, 'a webhook could not be delivered');
    });
    this.#pending.add(work);
    void work.then(() => this.#pending.delete(work));
  }

  /** Waits for the current attempts, and gives up the others. */
  async close(millis: number): Promise<void> {
    this.#ending.abort(new Error('the service ended'));
    await settleWithin(millis, this.#pending);
  }

  async #deliver(ended: Promise<RunRecord>, url: string): Promise<void> {
    const record = await ended;
    const { clock, pace = 1 } = this.#options;
    const body = JSON.stringify(this.#bodyOf(record));
    const delivery = randomUUID();
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) {
        const millis = backoffMillis(attempt - 1, BACKOFF);
        await sleep(millis * pace, this.#ending.signal).catch(() => undefined);
        if (this.#ending.signal.aborted) break;
      }
      failure = await this.#attempt(url, body, delivery, Math.floor(clock() / 1000));
      if (failure === undefined) return;
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
