import { invalidParameter } from '../../internal/arguments.ts';
import type { Allowance, RateLimiter } from '../context/service-context.ts';
import { loadRateLimiter } from '../packages.ts';

/** What rate-limiter-flexible tells of a client, whether it lets the request pass or not. */
interface Taken {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

const SECONDS = 60;

/**
 * So many requests a minute and client, counted in the memory of this process from a client's first request on.
 * @throws {ValueError} for a limit that is no whole number of 1 or more
 */
export function createMemoryRateLimiter(perMinute: number): RateLimiter {
  if (!Number.isSafeInteger(perMinute) || perMinute < 1) {
    throw invalidParameter('rateLimit', 'be a whole number of at least 1', perMinute);
  }
  const { RateLimiterMemory } = loadRateLimiter();
  const limiter = new RateLimiterMemory({ points: perMinute, duration: SECONDS });
  return {
    take: async (client) => {
      try {
        return allowance(true, perMinute, await limiter.consume(client));
      } catch (refusal) {
        // It rejects with what is left, and with an Error only where something failed.
        if (refusal instanceof Error) throw refusal;
        return allowance(false, perMinute, refusal as Taken);
      }
    },
  };
}

function allowance(isAllowed: boolean, limit: number, { remainingPoints, msBeforeNext }: Taken): Allowance {
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return { isAllowed, limit, remaining: Math.max(0, remainingPoints), resetSeconds };
}
