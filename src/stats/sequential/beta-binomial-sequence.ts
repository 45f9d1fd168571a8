import { invalidParameter } from '../../internal/arguments.ts';
import type { Interval } from '../proportion-interval.ts';
import { stirlingError } from '../stirling-error.ts';

/** Halley's steps triple the digits: after one of this share of the root, the next would be some 1e-14 of it. */
const LAST_STEP = 2e-5;

/** One to three steps are usual; halving alone would need some sixty. */
const MAX_STEPS = 100;

/**
 * The anytime-valid interval of one rate: a confidence sequence, whose
 * intervals hold the true rate at every number of trials at once with
 * probability at least 1 - alpha, however often they are looked at.
 *
 * A rate p is excluded where the likelihood averaged over a flat prior is more
 * than 1/alpha times the likelihood of p:
 * ln B(S + 1, n - S + 1) - S ln p - (n - S) ln(1 - p) > ln(1/alpha).
 * Under p that ratio is a non-negative martingale that starts at 1, and by
 * Ville's inequality it ever passes 1/alpha with probability at most alpha.
 *
 * It holds for trials that are independent with one rate, and more widely
 * wherever the chance of a success, given all that came before, is p. It is
 * wider than an interval for one fixed n: see `docs/sequential.md`.
 * @param successes S, a whole number from 0 to `trials`
 * @param trials n, a whole number; 0 gives [0, 1]
 * @param alpha the chance that any interval of the sequence misses the rate, in (0, 1)
 * @returns [lower, upper], both to 1e-12; the lower end is 0 without successes, the upper end 1 without failures
 * @throws {ValueError} for counts that are not whole or not in order, and for alpha out of range
 * @see H. Robbins, Statistical methods related to the law of the iterated logarithm (1970)
 * @example
 * ```ts
 * import { betaBinomialSequence } from 'evenhand/stats';
 *
 * const [low, high] = betaBinomialSequence(30, 100, 0.05);
 * console.log(low.toFixed(4), high.toFixed(4));
 * // 0.1694 0.4572
 * ```
 */
export function betaBinomialSequence(successes: number, trials: number, alpha: number): Interval {
  return Object.freeze<Interval>([
    betaBinomialLower(successes, trials, alpha),
    betaBinomialUpper(successes, trials, alpha),
  ]);
}

/**
 * The lower end of {@link betaBinomialSequence} alone, at half its cost. The
 * two ends share alpha, so one end alone misses less often than alpha.
 * @throws {ValueError} as `betaBinomialSequence`
 * @example
 * ```ts
 * import { betaBinomialLower } from 'evenhand/stats';
 *
 * console.log(betaBinomialLower(30, 100, 0.05).toFixed(4));
 * // 0.1694
 * ```
 */
export function betaBinomialLower(successes: number, trials: number, alpha: number): number {
  requireCounts(successes, trials, alpha);
  if (successes === 0) return 0;
  return (successes / trials) * Math.exp(logShrinkage(successes, trials - successes, alpha));
}

/**
 * The upper end of {@link betaBinomialSequence} alone, at half its cost.
 * @throws {ValueError} as `betaBinomialSequence`
 * @example
 * ```ts
 * import { betaBinomialUpper } from 'evenhand/stats';
 *
 * console.log(betaBinomialUpper(30, 100, 0.05).toFixed(4));
 * // 0.4572
 * ```
 */
export function betaBinomialUpper(successes: number, trials: number, alpha: number): number {
  requireCounts(successes, trials, alpha);
  const failures = trials - successes;
  if (failures === 0) return 1;
  // One minus the lower end of the rate of failures, without the digits that 1 - x would lose where x is near 1.
  return (successes - failures * Math.expm1(logShrinkage(failures, successes, alpha))) / trials;
}

/**
 * The lower end of the rate of `counted`, as the u < 0 of p = (S/n) e^u.
 * In u the equation G(u) = n KL(S/n, p) = L reads, with m = n - S and r = S/m,
 *
 * G(u) = -S u - m ln(1 - r expm1(u)),
 * L = ln(1/alpha) - ln B(S + 1, m + 1) + S ln(S/n) + m ln(m/n),
 *
 * which is convex: Newton's steps cannot leave the left of the root once there.
 */
function logShrinkage(counted: number, others: number, alpha: number): number {
  const trials = counted + others;
  if (others === 0) return -Math.log((trials + 1) / alpha) / trials;
  // Stirling's formula cancels all of L that grows with n; (n + 1)! is n! (n + 1).
  const bulk = (trials + 1) / (alpha * Math.sqrt((2 * Math.PI * counted * others) / trials));
  const level = Math.log(bulk) - stirlingError(counted) - stirlingError(others) + stirlingError(trials);
  return rootOf(counted, others, level);
}

/** The u < 0 with G(u) = level, by Halley's method kept inside a bracket. */
function rootOf(counted: number, others: number, level: number): number {
  const ratio = counted / others;
  // G(u) >= -S u - m ln(1 + r): where that reaches the level, G has passed it.
  let left = -(level + others * Math.log1p(ratio)) / counted;
  let right = 0;
  let u = Math.max(left, firstGuess(counted, ratio, level));
  for (let step = 0; step < MAX_STEPS; step++) {
    const grown = Math.expm1(u);
    const beyond = -ratio * grown;
    const away = 1 + beyond;
    const excess = -counted * u - others * Math.log1p(beyond) - level;
    if (excess > 0) left = u;
    else right = u;
    const slope = (counted * grown * (1 + ratio)) / away;
    const curvature = (counted * (1 + grown) * (1 + ratio)) / (away * away);
    const change = excess / (slope - (excess * curvature) / (2 * slope));
    u -= change;
    if (Math.abs(change) <= LAST_STEP * Math.abs(u)) break;
    if (!(u > left && u < right)) u = (left + right) / 2;
  }
  return u;
}

/** The series of G(u) = S (1 + r) (u^2 / 2 + (1 + 2 r) u^3 / 6 + (1 + 6 r + 6 r^2) u^4 / 24 + ...), turned round. */
function firstGuess(counted: number, ratio: number, level: number): number {
  const w = Math.sqrt((2 * level) / (counted * (1 + ratio)));
  return -w * (1 + w * ((1 + 2 * ratio) / 6 + (w * (1 + ratio + ratio * ratio)) / 36));
}

/** Kept free of allocation: these ends are asked for at every event. */
function requireCounts(successes: number, trials: number, alpha: number): void {
  if (!(Number.isSafeInteger(trials) && trials >= 0)) {
    throw invalidParameter('trials', 'be a whole number of at least 0', trials);
  }
  if (!(Number.isSafeInteger(successes) && successes >= 0 && successes <= trials)) {
    throw invalidParameter('successes', `be a whole number from 0 to trials = ${String(trials)}`, successes);
  }
  if (!(alpha > 0 && alpha < 1)) {
    throw invalidParameter('alpha', 'be a number between 0 and 1, both excluded', alpha);
  }
}
