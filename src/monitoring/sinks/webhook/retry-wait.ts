import type { Random } from '../../../internal/random.ts';

/** No wait is longer, whatever the server asks for: later alerts wait behind this one. */
const LONGEST_WAIT_MILLIS = 300_000;

/**
 * How long to wait before a retry: between half and all of `backoffMillis` x
 * 2^retry, so that many senders do not come back at once, and at least as long
 * as the server asks; at most 5 minutes.
 * @param retry counted from 0
 */
export function retryWaitMillis(
  backoffMillis: number,
  retry: number,
  askedMillis: number | undefined,
  random: Random,
): number {
  // Beyond, the cap has long been reached, and 0 x Infinity would be no number.
  const jittered = backoffMillis * 2 ** Math.min(retry, 60) * (0.5 + random.next() / 2);
  return Math.min(LONGEST_WAIT_MILLIS, Math.max(jittered, askedMillis ?? 0));
}
