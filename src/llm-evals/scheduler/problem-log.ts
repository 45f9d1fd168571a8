import { getLogger } from '../../internal/logger.ts';
import { messageOf } from '../../internal/values.ts';
import type { ClientFailure, FailureKind } from '../client/llm-client.ts';
import { redactSecrets } from '../client/secrets.ts';
import { inSeconds, sentenceOf } from './retry-policy.ts';

/** The minimum length of a wait that is logged. */
const LONG_WAIT_MILLIS = 10_000;

/**
 * Logs why answers are missing. Reports the first retried failure of each kind, and waits of more than 10 s. If several
 * requests wait at the same time, one message is logged.
 */
export class ProblemLog {
  readonly #reported = new Set<FailureKind>();
  #reportedUntil = -Infinity;
  #last: string | null = null;

  /** The message of the last failure, without secrets; null if there was no failure. */
  get last(): string | null {
    return this.#last;
  }

  /** Records the failure of an attempt. Ignores cancelled attempts, because the provider did not cause them. */
  note({ kind, isRetryable }: ClientFailure, error: unknown): void {
    if (kind === 'cancelled') return;
    this.#last = redactSecrets(messageOf(error));
    if (!isRetryable || this.#reported.has(kind)) return;
    this.#reported.add(kind);
    getLogger().warn(
      `A request failed: ${redactSecrets(sentenceOf(error))} Further failures of this kind are not logged.`,
    );
  }

  /** Records the wait of a request before its next attempt. */
  wait(millis: number, now: number, { retryAfterMillis }: ClientFailure): void {
    if (millis <= LONG_WAIT_MILLIS || now + millis <= this.#reportedUntil + LONG_WAIT_MILLIS) return;
    this.#reportedUntil = now + millis;
    const shown = inSeconds(millis);
    const what = retryAfterMillis === null ? `A request is retried in ${shown}` : `The server asks to wait ${shown}`;
    getLogger().warn(`${what}. The last error: ${this.#last ?? ''}`);
  }
}
