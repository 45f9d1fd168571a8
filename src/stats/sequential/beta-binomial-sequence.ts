import { invalidParameter } from '../../internal/arguments.ts';
import type { Interval } from '../proportion-interval.ts';
import { stirlingError } from '../stirling-error.ts';

/**
 * Halley's method triples the number of correct digits per step. After a relative change of this size, the next change
 * would be about 1e-14.
 */
const LAST_STEP = 2e-5;

/** The maximum number of steps. One to three steps are usual. Bisection alone takes about sixty. */
const MAX_STEPS = 100;

/**
 * Computes the anytime-valid interval of one rate. The result is a confidence sequence: the probability that the
 * intervals at all numbers of trials contain the true rate is at least 1 - alpha, for any number of checks.
 *
 * A rate p is excluded if the likelihood averaged over a flat prior is more than 1/alpha times the likelihood of p: ln
 * B(S + 1, n - S + 1) - S ln p - (n - S) ln(1 - p) > ln(1/alpha). Under p, this ratio is a non-negative martingale that
 * starts at 1. By Ville's inequality, the probability that it ever exceeds 1/alpha is at most alpha.
 *
 * The interval is valid for independent trials with one rate, and more generally if the probability of a success, given
 * all earlier trials, is p. This interval is wider than an interval for one fixed n: see `docs/sequential.md`.
 * @param successes S, an integer from 0 to `trials`
 * @param trials n, an integer; 0 gives [0, 1]
 * @param alpha the probability that any interval of the sequence misses the rate, in (0, 1)
 * @returns [lower, upper], both exact to 1e-12; lower is 0 if there are no successes, upper is 1 if there are no
 *   failures
 * @throws {ValueError} if a count is not an integer, successes exceed trials, or alpha is out of range
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
 * Computes only the lower end of {@link betaBinomialSequence}, at half the cost. The two ends share alpha, so the
 * probability that this end ever misses the rate is less than alpha.
 * @throws {ValueError} under the same conditions as `betaBinomialSequence`
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
 * Computes only the upper end of {@link betaBinomialSequence}, at half the cost.
 * @throws {ValueError} under the same conditions as `betaBinomialSequence`
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
  // This formula equals one minus the lower end of the failure rate, but avoids the cancellation of 1 - x for x near 1.
  return (successes - failures * Math.expm1(logShrinkage(failures, successes, alpha))) / trials;
}

/**
 * Returns the u < 0 for which p = (S/n) e^u is the lower end of the rate of `counted`. This u solves G(u) = n KL(S/n,
 * p) = L, where m = n - S, r = S/m and
 *
 * G(u) = -S u - m ln(1 - r expm1(u)), L = ln(1/alpha) - ln B(S + 1, m + 1) + S ln(S/n) + m ln(m/n),
 *
 * G is convex: after Newton's method reaches a point left of the root, it stays left of the root.
 */
function logShrinkage(counted: number, others: number, alpha: number): number {
  const trials = counted + others;
  if (others === 0) return -Math.log((trials + 1) / alpha) / trials;
  // Stirling's formula cancels all terms of L that grow with n. The factorial (n + 1)! is written as n! (n + 1).
  const bulk = (trials + 1) / (alpha * Math.sqrt((2 * Math.PI * counted * others) / trials));
  const level = Math.log(bulk) - stirlingError(counted) - stirlingError(others) + stirlingError(trials);
  return rootOf(counted, others, level);
}

/** Returns the u < 0 with G(u) = level, by Halley's method within a bracket. */
function rootOf(counted: number, others: number, level: number): number {
  const ratio = counted / others;
  // G(u) >= -S u - m ln(1 + r). If this lower bound equals the level at u, G(u) is at least the level.
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

/**
 * Returns a first approximation from the inverse of the series G(u) = S (1 + r) (u^2 / 2 + (1 + 2 r) u^3 / 6 + (1 + 6 r
 * + 6 r^2) u^4 / 24 + ...).
 */
function firstGuess(counted: number, ratio: number, level: number): number {
  const w = Math.sqrt((2 * level) / (counted * (1 + ratio)));
  return -w * (1 + w * ((1 + 2 * ratio) / 6 + (w * (1 + ratio + ratio * ratio)) / 36));
}

/** Checks the arguments without allocations, since the ends are computed at every event. */
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
