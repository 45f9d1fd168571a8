import { invalidParameter } from '../../internal/arguments.ts';
import type { Allowance, RateLimiter } from '../context/service-context.ts';
import { loadPackage } from '../packages.ts';

/** The result of rate-limiter-flexible for a client. It has the same form for allowed and rejected requests. */
interface Taken {
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

const SECONDS = 60;

/**
 * Creates a limiter of requests per minute and client. Counts are kept in the memory of this process, and each window
 * begins with a client's first request.
 * @throws {ValueError} if the limit is not a whole number of at least 1
 */
export function createMemoryRateLimiter(perMinute: number): RateLimiter {
  if (!Number.isSafeInteger(perMinute) || perMinute < 1) {
    throw invalidParameter('rateLimit', 'be a whole number of at least 1', perMinute);
  }
  const { RateLimiterMemory } = loadPackage('rate-limiter-flexible');
  const limiter = new RateLimiterMemory({ points: perMinute, duration: SECONDS });
  return {
    take: async (client) => {
      try {
        return allowance(true, perMinute, await limiter.consume(client));
      } catch (refusal) {
        // The limiter rejects with the remaining allowance if the limit is exceeded, and with an Error only for
        // failures.
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
