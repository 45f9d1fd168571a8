import { FairnessToolkitError } from '../../exceptions/index.ts';
import type { RedisClient } from '../../io/redis/open-redis.ts';

/** Watches servers that can go away. An outage is reported once, and fails the run if it lasts too long. */
export class OutageWatch {
  readonly #limitMillis: number;
  readonly #onWarning: (warning: string) => void;
  readonly #fail: (error: FairnessToolkitError) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isStopped = false;

  /**
   * @param limitMillis the longest outage
   * @param fail called with an error if an outage lasts longer
   */
  constructor(limitMillis: number, onWarning: (warning: string) => void, fail: (error: FairnessToolkitError) => void) {
    this.#limitMillis = limitMillis;
    this.#onWarning = onWarning;
    this.#fail = fail;
  }

  /** Notes that a server does not answer. */
  lost(server: string, problem: string): void {
    if (this.#isStopped || this.#timers.has(server)) return;
    const seconds = Math.round(this.#limitMillis / 1000);
    this.#onWarning(
      `${server} does not answer (${problem}). evenhand tries again for ${String(seconds)} seconds. Nothing is lost: counting continues where it was saved.`,
    );
    const timer = setTimeout(() => {
      this.#fail(
        new FairnessToolkitError(`${server} has not answered for ${String(seconds)} seconds: ${problem}.`, {
          code: 'broker-lost',
          context: { engine: server, seconds, reason: problem },
          suggestion: 'Start the same command again when the server is back. Counting continues where it was saved.',
        }),
      );
    }, this.#limitMillis);
    this.#timers.set(server, timer);
  }

  /** Notes that a server answers again. */
  back(server: string): void {
    const timer = this.#timers.get(server);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#timers.delete(server);
    this.#onWarning(`${server} answers again.`);
  }

  /** Watches a connection to Redis, which is restored by its client. */
  watchRedis(server: string, client: RedisClient): void {
    let problem = 'the connection is closed';
    client.on('error', (error: Error) => {
      problem = error.message;
    });
    client.on('close', () => {
      this.lost(server, problem);
    });
    client.on('ready', () => {
      this.back(server);
    });
  }

  /** Stops watching. Connections that are closed from now on are not reported. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
