import { createHash } from 'node:crypto';

import type { RedisClient } from './open-redis.ts';

/** A Lua script, which Redis runs as one step. */
export interface RedisScript {
  readonly text: string;
  readonly digest: string;
}

/** Creates a script. */
export function redisScript(text: string): RedisScript {
  return Object.freeze({ text, digest: createHash('sha1').update(text).digest('hex') });
}

/** Runs a script. Redis forgets scripts when it restarts, and then gets the text again. */
export async function runScript(
  client: Pick<RedisClient, 'call'>,
  { text, digest }: RedisScript,
  key: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.call('EVALSHA', digest, 1, key, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.call('EVAL', text, 1, key, ...args);
  }
}
