import { invalidParameter } from '../../internal/arguments.ts';
import { requireCount, requireLevel, requireSuccesses } from '../parameters.ts';
import { type Interval, wilsonInterval } from '../proportion-interval.ts';

/**
 * Computes Newcombe's interval for a difference of two rates a / nA - b / nB (his method 10) from Wilson's interval [l,
 * u] of each rate:
 *
 *     low = d - sqrt((pA - lA)^2 + (uB - pB)^2)
 *     high = d + sqrt((uA - pA)^2 + (pB - lB)^2)
 *
 * If the rates are correlated, as rates of pairs or of clusters with rows of both, 2 r (pA - lA) (uB - pB) and 2 r (uA - pA)
 * (pB - lB) are subtracted under the roots, for the correlation r (Newcombe, Improved Confidence Intervals for the Difference
 * Between Binomial Proportions Based on Paired Data, 1998).
 *
 * The interval stays inside [-1, 1] and has a positive width even if a rate is 0 or 1.
 * @param successesA from 0 to `trialsA`; fractions are allowed (effective counts)
 * @param trialsA if 0, the rate and the interval are NaN
 * @param level confidence level in (0, 1)
 * @param correlation the correlation of the two rates, from -1 to 1
 * @throws {ValueError} if a count, the level or the correlation is out of range
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
  correlation = 0,
): Interval {
  requireLevel('level', level);
  if (!(Math.abs(correlation) <= 1)) throw invalidParameter('correlation', 'be from -1 to 1', correlation);
  const a = scored('A', successesA, trialsA, level);
  const b = scored('B', successesB, trialsB, level);
  const difference = a.rate - b.rate;
  return Object.freeze<Interval>([
    difference - distance(a.rate - a.low, b.high - b.rate, correlation),
    difference + distance(a.high - a.rate, b.rate - b.low, correlation),
  ]);
}

/** Returns sqrt(x^2 - 2 r x y + y^2). */
function distance(x: number, y: number, correlation: number): number {
  return correlation === 0 ? Math.hypot(x, y) : Math.sqrt(Math.max(0, x * x - 2 * correlation * x * y + y * y));
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
