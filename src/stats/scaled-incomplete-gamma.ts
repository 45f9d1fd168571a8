import { stirlingError } from './stirling-error.ts';

/** The relative size below which further terms are ignored. */
const ENOUGH = 1e-16;

const HALF_LOG_TAU = Math.log(2 * Math.PI) / 2;

/**
 * Returns ln of the integral of t^(a - 1) e^(b (1 - t)) over t from 0 to 1, which is e^b b^-a times the lower
 * incomplete gamma function at (a, b).
 *
 * This scale prevents overflow, and the large terms of the mixtures cancel algebraically instead of numerically.
 * @param a above 0
 * @param b any number, including negative ones
 */
export function logScaledLowerGamma(a: number, b: number): number {
  if (b < 0) return b + logFallingSeries(a, -b);
  if (b < a + 1) return Math.log(risingSeries(a, b));
  const complete = logScaledGamma(a, b);
  return complete + Math.log1p(-fraction(a, b) * Math.exp(-complete));
}

/**
 * Returns ln of the integral of t^(a - 1) e^(-b (t - 1)) over t from 1 to infinity, which is e^b b^-a times the upper
 * incomplete gamma function at (a, b).
 * @param a any number, including 0 and negative ones
 * @param b above 0
 */
export function logScaledUpperGamma(a: number, b: number): number {
  if (a <= 0 || b >= a + 1) return Math.log(fraction(a, b));
  const complete = logScaledGamma(a, b);
  return complete + Math.log1p(-risingSeries(a, b) * Math.exp(-complete));
}

/**
 * Returns the upper regularised incomplete gamma function Q(a, x): the integral of t^(a - 1) e^-t from x to infinity,
 * divided by Gamma(a). Takes O(sqrt(a)) steps.
 * @param a above 0
 * @param x 0 or more
 */
export function upperGammaShare(a: number, x: number): number {
  if (x === 0) return 1;
  const complete = logScaledGamma(a, x);
  return x < a + 1 ? 1 - risingSeries(a, x) * Math.exp(-complete) : fraction(a, x) * Math.exp(-complete);
}

/**
 * Returns ln(e^b b^-a Gamma(a)). With m = (b - a) / a, Stirling's formula reduces the large terms to a (m - ln(1 + m)).
 */
function logScaledGamma(a: number, b: number): number {
  const m = (b - a) / a;
  return a * (m - Math.log1p(m)) - Math.log(a) / 2 + HALF_LOG_TAU + stirlingError(a);
}

/** Returns the sum of b^k / (a (a + 1) ... (a + k)) over k = 0, 1, ... (Abramowitz and Stegun 6.5.29). */
function risingSeries(a: number, b: number): number {
  let [sum, term] = [1 / a, 1 / a];
  for (let k = 1; term > sum * ENOUGH; k++) {
    term *= b / (a + k);
    sum += term;
  }
  return sum;
}

/**
 * Returns ln of the sum of x^k / (k! (a + k)) over k = 0, 1, ... for x > 0. Terms are summed relative to the largest
 * term.
 */
function logFallingSeries(a: number, x: number): number {
  const peak = Math.floor(x);
  let sum = 1 / (a + peak);
  for (let [k, weight] = [peak, 1]; k > 0 && weight > ENOUGH; k--) sum += (weight *= k / x) / (a + k - 1);
  for (let [k, weight] = [peak + 1, 1]; (weight *= x / k) > ENOUGH; k++) sum += weight / (a + k);
  return Math.log(sum) + logTopWeight(peak, x);
}

/** Returns ln(x^k / k!). */
function logTopWeight(k: number, x: number): number {
  if (k === 0) return 0;
  return k * Math.log(x / k) + k - Math.log(k) / 2 - HALF_LOG_TAU - stirlingError(k);
}

/** Computes 1 / (b + 1 - a - 1 (1 - a) / (b + 3 - a - 2 (2 - a) / ...)) by Lentz's method (6.5.31). */
function fraction(a: number, b: number): number {
  let base = b + 1 - a;
  let upper = Infinity;
  let lower = 1 / base;
  let value = lower;
  let factor = 0;
  for (let k = 1; Math.abs(factor - 1) > 2 * ENOUGH; k++) {
    base += 2;
    const step = k * (a - k);
    lower = 1 / (step * lower + base);
    upper = base + step / upper;
    factor = lower * upper;
    value *= factor;
  }
  return value;
}
