import type { Logger } from 'pino';

import { redisScript, runScript } from '../../io/redis/run-script.ts';
import { dueWebhookSchema } from '../webhooks/file-webhook-store.ts';
import type { DueWebhook, WebhookStore } from '../webhooks/webhook-deliveries.ts';
import type { PromptClient } from './prompt-client.ts';

/**
 * `PREFIX:webhooks` holds the webhooks by the ID of their run, and `PREFIX:webhooks:due` the ends of the leases of the
 * hosts that deliver them, in microseconds.
 */
const COMMON = `
local call = redis.call
local ALL, DUE = KEYS[1] .. ':webhooks', KEYS[1] .. ':webhooks:due'
local function leaseEnd(millis)
  local time = call('TIME')
  return string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]) + tonumber(millis) * 1000)
end
`;

/** Stores a webhook. ARGV: ID of the run, webhook, milliseconds of a lease, seconds after which all expire. */
const ADD = redisScript(`${COMMON}
call('HSET', ALL, ARGV[1], ARGV[2])
call('ZADD', DUE, leaseEnd(ARGV[3]), ARGV[1])
call('EXPIRE', ALL, ARGV[4])
call('EXPIRE', DUE, ARGV[4])
`);

/** Removes a webhook. ARGV: ID of the run. */
const REMOVE = redisScript(`${COMMON}
call('HDEL', ALL, ARGV[1])
call('ZREM', DUE, ARGV[1])
`);

/**
 * Extends the leases of webhooks, takes over some whose lease has ended, and returns these. ARGV: milliseconds of a lease,
 * most webhooks, IDs of runs.
 */
const TAKE = redisScript(`${COMMON}
for index = 3, #ARGV do call('ZADD', DUE, 'XX', leaseEnd(ARGV[1]), ARGV[index]) end
local taken = {}
for _, id in ipairs(call('ZRANGEBYSCORE', DUE, '-inf', leaseEnd(0), 'LIMIT', 0, ARGV[2])) do
  local webhook = call('HGET', ALL, id)
  if webhook then
    call('ZADD', DUE, leaseEnd(ARGV[1]), id)
    taken[#taken + 1] = webhook
  else
    call('ZREM', DUE, id)
  end
end
return taken
`);

/** The number of webhooks that a host takes over at once. */
const TAKEN_AT_ONCE = 100;

/** Options of {@link RedisWebhookStore}. */
interface RedisWebhookStoreOptions {
  readonly client: Pick<PromptClient, 'call'>;
  /** The first part of all keys. */
  readonly prefix: string;
  /** The time in milliseconds after which another host delivers the webhooks of a host that is silent. */
  readonly leaseMillis: number;
  /** The time in seconds after which a webhook expires. */
  readonly keepSeconds: number;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The webhooks that several hosts share through Redis. If a host is lost, another one delivers its webhooks. */
export class RedisWebhookStore implements WebhookStore {
  readonly #options: RedisWebhookStoreOptions;
  readonly takeMillis: number;

  constructor(options: RedisWebhookStoreOptions) {
    this.#options = options;
    this.takeMillis = options.leaseMillis / 3;
  }

  async add(due: DueWebhook): Promise<void> {
    const { leaseMillis, keepSeconds } = this.#options;
    await this.#run(ADD, due.runId, JSON.stringify(due), leaseMillis, keepSeconds);
  }

  async remove({ runId }: DueWebhook): Promise<void> {
    await this.#run(REMOVE, runId);
  }

  async take(own: readonly DueWebhook[]): Promise<readonly DueWebhook[]> {
    const { leaseMillis, logger } = this.#options;
    const texts = (await this.#run(TAKE, leaseMillis, TAKEN_AT_ONCE, ...own.map(({ runId }) => runId))) as string[];
    return texts.flatMap((text) => {
      try {
        return [dueWebhookSchema.parse(JSON.parse(text))];
      } catch {
        logger.warn('a webhook in Redis is damaged, and is not delivered');
        return [];
      }
    });
  }

  #run(script: typeof ADD, ...args: readonly (string | number)[]): Promise<unknown> {
    const { client, prefix } = this.#options;
    return runScript(client, script, prefix, args);
  }
}
