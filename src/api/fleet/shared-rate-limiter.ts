import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

import { redisScript, runScript, type RedisScript } from '../../io/redis/run-script.ts';
import type { RateLimiter } from '../context/service-context.ts';
import { createRateLimiter } from '../middleware/service-middleware.ts';
import type { PromptClient } from './prompt-client.ts';

/**
 * Creates a limiter whose counts all hosts share. While Redis does not answer, each host counts by itself.
 * @throws {ValueError} if the limit is not a whole number of at least 1
 */
export function createSharedRateLimiter(perMinute: number, prompt: PromptClient, prefix: string): RateLimiter {
  return createRateLimiter(
    perMinute,
    (options) =>
      new RateLimiterRedis({
        ...options,
        storeClient: storeClientOf(prompt),
        keyPrefix: `${prefix}:rate`,
        insuranceLimiter: new RateLimiterMemory(options),
      }),
  );
}

/** Returns the part of a client that the package uses: it defines one script, and runs it. */
function storeClientOf(prompt: PromptClient): object {
  const scripts = new Map<string, RedisScript>();
  return {
    defineCommand: (name: string, { lua }: { readonly lua: string }) => {
      scripts.set(name, redisScript(lua));
    },
    rlflxIncr: async ([key = '', ...args]: readonly string[]) => {
      const script = scripts.get('rlflxIncr');
      if (script === undefined) throw new Error('The script of the rate limiter is not defined.');
      return runScript(prompt, script, key, args);
    },
  };
}
