import type { Redis } from '../../io/redis/open-redis.ts';
import { redisScript, runScript } from '../../io/redis/run-script.ts';

/** Takes or keeps a lease. Returns 1 if this process has it. */
const HOLD = redisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** Gives up a lease, if this process has it. */
const DROP = redisScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

/**
 * Leases of names in Redis: a process holds a name until it gives it up, or does not renew its lease in time. Leases only
 * avoid duplicate work. What is counted is protected by the epochs of the partitions.
 */
export class Leases {
  readonly #redis: Redis;
  readonly #root: string;
  readonly #token: string;
  readonly #millis: number;
  readonly #held = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(redis: Redis, root: string, token: string, millis: number) {
    this.#redis = redis;
    this.#root = root;
    this.#token = token;
    this.#millis = millis;
    this.#timer = setInterval(() => {
      for (const name of this.#held) void this.#hold(name).catch(() => false);
    }, millis / 3);
  }

  /** Takes a lease. Returns false if another process has it. */
  async take(name: string): Promise<boolean> {
    const isTaken = await this.#hold(name);
    if (isTaken) this.#held.add(name);
    return isTaken;
  }

  /** Gives up a lease. */
  async drop(name: string): Promise<void> {
    this.#held.delete(name);
    await runScript(this.#redis.client, DROP, this.#keyOf(name), [this.#token]);
  }

  /** Gives up all leases. If Redis does not answer, they expire. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const names = [...this.#held];
    this.#held.clear();
    if (this.#redis.client.status === 'ready') await Promise.all(names.map((name) => this.drop(name)));
  }

  async #hold(name: string): Promise<boolean> {
    return Number(await runScript(this.#redis.client, HOLD, this.#keyOf(name), [this.#token, this.#millis])) === 1;
  }

  #keyOf(name: string): string {
    return `${this.#root}:lease:${name}`;
  }
}
