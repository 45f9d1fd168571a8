import { requireCount, requireLevel, requireSuccesses } from '../parameters.ts';
import { type Interval, wilsonInterval } from '../proportion-interval.ts';

/**
 * Computes Newcombe's interval for a difference of two rates a / nA - b / nB (his method 10) from Wilson's interval [l,
 * u] of each rate:
 *
 *     low = d - sqrt((pA - lA)^2 + (uB - pB)^2)
 *     high = d + sqrt((uA - pA)^2 + (pB - lB)^2)
 *
 * The interval stays inside [-1, 1] and has a positive width even if a rate is 0 or 1.
 * @param successesA from 0 to `trialsA`; fractions are allowed (effective counts)
 * @param trialsA if 0, the rate and the interval are NaN
 * @param level confidence level in (0, 1)
 * @throws {ValueError} if a count or the level is out of range
 * @see R. Newcombe, Interval Estimation for the Difference Between Independent Proportions (1998)
 * @example
 * ```ts
 * import { newcombeInterval } from 'evenhand/stats';
 *
 * const [low, high] = newcombeInterval(56, 70, 48, 80);
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.0524 0.3339
 * ```
 */
export function newcombeInterval(
  successesA: number,
  trialsA: number,
  successesB: number,
  trialsB: number,
  level = 0.95,
): Interval {
  requireLevel('level', level);
  const a = scored('A', successesA, trialsA, level);
  const b = scored('B', successesB, trialsB, level);
  const difference = a.rate - b.rate;
  return Object.freeze<Interval>([
    difference - Math.hypot(a.rate - a.low, b.high - b.rate),
    difference + Math.hypot(a.high - a.rate, b.rate - b.low),
  ]);
}

function scored(
  side: 'A' | 'B',
  successes: number,
  trials: number,
  level: number,
): { readonly rate: number; readonly low: number; readonly high: number } {
  requireCount(`trials${side}`, trials);
  requireSuccesses(`successes${side}`, successes, `trials${side}`, trials);
  const [low, high] = wilsonInterval(successes, trials, level);
  return { rate: successes / trials, low, high };
}
