import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requirePositive, requireTimeAndLevel } from './mixture-parameters.ts';

/** Terms summed one by one; the rest by Euler and Maclaurin, here exact to 1e-16 relatively. */
const FIRST_TERMS = 12;

/** B_2k / (2 k)! for k = 1, 2, ... */
const COEFFICIENTS = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000];

/** Riemann's zeta function, the sum of k^-s over k from 1 on, for s > 1. */
export function riemannZeta(s: number): number {
  const n = FIRST_TERMS;
  let sum = n ** (1 - s) / (s - 1) + n ** -s / 2;
  for (let k = 1; k < n; k++) sum += k ** -s;
  let rising = s * n ** (-s - 1);
  COEFFICIENTS.forEach((coefficient, index) => {
    sum += coefficient * rising;
    const next = s + 2 * index + 1;
    rising *= (next * (next + 1)) / (n * n);
  });
  return sum;
}

/** The shape of a stitched boundary. */
export interface StitchingShape {
  /**
   * How fast alpha is spent over the epochs, above 1: the k-th has k^-s / zeta(s) of it.
   * @defaultValue 1.4
   */
  readonly s?: number;
  /**
   * Each epoch ends at so many times the time at which it began; above 1.
   * @defaultValue 2
   */
  readonly eta?: number;
}

/** Lists the options of {@link StitchingShape}. */
export const STITCHING_SHAPE_NAMES: OptionNames<StitchingShape> = { s: true, eta: true };

/** What a polynomial stitched boundary may be told. */
export interface PolyStitchingOptions extends StitchingShape {
  /** The intrinsic time from which the boundary grows; before it is flat. Above 0. */
  readonly vMin: number;
  /**
   * The scale of a sub-gamma sum in the units of s: 0 for sub-Gaussian sums, below 0 allowed.
   * @defaultValue 0
   */
  readonly c?: number;
}

const POLY_STITCHING_OPTION_NAMES: OptionNames<PolyStitchingOptions> = {
  ...STITCHING_SHAPE_NAMES,
  vMin: true,
  c: true,
};

/** A stitched boundary's shape, settled: with the two constants that pay for covering an epoch by one line. */
interface Stitching {
  readonly s: number;
  readonly eta: number;
  readonly zeta: number;
  readonly k1: number;
  readonly k2: number;
}

/**
 * The polynomial stitched boundary of a sub-gamma sum, in closed form and of
 * the rate of the law of the iterated logarithm. With w = max(v, vMin) and
 * l = s ln ln(eta w / vMin) + ln(zeta(s) / (alpha ln(eta)^s)):
 * sqrt(k1^2 w l + (k2 c l)^2) + k2 c l,
 * k1 = (eta^(1/4) + eta^(-1/4)) / sqrt(2), k2 = (sqrt(eta) + 1) / 2.
 *
 * The sum ever passes it with probability at most alpha. Mixture boundaries are
 * tighter over the times one mostly cares for.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} for a number out of range
 * @see S. R. Howard et al., Time-uniform, nonparametric, nonasymptotic confidence sequences (2021), theorem 1
 * @example
 * ```ts
 * import { polyStitchingBound } from 'evenhand/stats';
 *
 * console.log(polyStitchingBound(100, 0.05, { vMin: 10, c: 3 }).toFixed(4));
 * // 64.4875
 * ```
 */
export function polyStitchingBound(v: number, alpha: number, options: PolyStitchingOptions): number {
  assertKnownOptions('polyStitchingBound', options, POLY_STITCHING_OPTION_NAMES);
  const { vMin, c = 0, ...shape } = options;
  requireTimeAndLevel(v, alpha);
  requirePositive('vMin', vMin);
  if (!Number.isFinite(c)) throw invalidParameter('c', 'be a finite number', c);
  const { s, eta, zeta, k1, k2 } = stitchingFrom(shape);
  const time = Math.max(v, vMin);
  const level = s * Math.log(Math.log((eta * time) / vMin) / Math.log(eta)) + Math.log(zeta / alpha);
  const linear = k2 * c * level;
  return Math.hypot(k1 * Math.sqrt(time * level), linear) + linear;
}

/** The shape with its defaults and constants. */
export function stitchingFrom({ s = 1.4, eta = 2 }: StitchingShape): Stitching {
  if (!(s > 1 && s < Infinity)) throw invalidParameter('s', 'be a finite number above 1', s);
  if (!(eta > 1 && eta < Infinity)) throw invalidParameter('eta', 'be a finite number above 1', eta);
  const k1 = (eta ** 0.25 + eta ** -0.25) / Math.SQRT2;
  return { s, eta, zeta: riemannZeta(s), k1, k2: (Math.sqrt(eta) + 1) / 2 };
}
