import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requirePositive, requireTimeAndLevel } from './mixture-parameters.ts';

/**
 * The number of terms that are summed directly. The rest is estimated by the Euler-Maclaurin formula, with a relative
 * error of 1e-16.
 */
const FIRST_TERMS = 12;

/** B_2k / (2 k)! for k = 1, 2, ... */
const COEFFICIENTS = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000];

/** Returns Riemann's zeta function, the sum of k^-s over k = 1, 2, ... for s > 1. */
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
   * The rate at which alpha is spent over the epochs, above 1: the k-th epoch gets the share k^-s / zeta(s).
   * @defaultValue 1.4
   */
  readonly s?: number;
  /**
   * The ratio of the end of an epoch to its start. The ratio must be above 1.
   * @defaultValue 2
   */
  readonly eta?: number;
}

/** Lists the options of {@link StitchingShape}. */
export const STITCHING_SHAPE_NAMES: OptionNames<StitchingShape> = { s: true, eta: true };

/** Options of {@link polyStitchingBound}. */
export interface PolyStitchingOptions extends StitchingShape {
  /** The intrinsic time at which the boundary starts to grow; above 0. Before that time, the boundary is constant. */
  readonly vMin: number;
  /**
   * The scale of a sub-gamma sum in the units of s; 0 for sub-Gaussian sums. Negative values are allowed.
   * @defaultValue 0
   */
  readonly c?: number;
}

const POLY_STITCHING_OPTION_NAMES: OptionNames<PolyStitchingOptions> = {
  ...STITCHING_SHAPE_NAMES,
  vMin: true,
  c: true,
};

/**
 * The shape of a stitched boundary with its defaults and constants. The constants k1 and k2 account for the use of one
 * straight line per epoch.
 */
interface Stitching {
  readonly s: number;
  readonly eta: number;
  readonly zeta: number;
  readonly k1: number;
  readonly k2: number;
}

/**
 * Computes the polynomial stitched boundary of a sub-gamma sum. The boundary has a closed form and grows at the rate of
 * the law of the iterated logarithm. With w = max(v, vMin) and l = s ln ln(eta w / vMin) + ln(zeta(s) / (alpha
 * ln(eta)^s)), the boundary is sqrt(k1^2 w l + (k2 c l)^2) + k2 c l, where k1 = (eta^(1/4) + eta^(-1/4)) / sqrt(2) and
 * k2 = (sqrt(eta) + 1) / 2.
 *
 * The probability that the sum ever crosses the boundary is at most alpha. Mixture boundaries are tighter over most
 * practical time ranges.
 * @param v at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
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

/** Returns the shape with defaults filled in and constants computed. */
export function stitchingFrom({ s = 1.4, eta = 2 }: StitchingShape): Stitching {
  if (!(s > 1 && s < Infinity)) throw invalidParameter('s', 'be a finite number above 1', s);
  if (!(eta > 1 && eta < Infinity)) throw invalidParameter('eta', 'be a finite number above 1', eta);
  const k1 = (eta ** 0.25 + eta ** -0.25) / Math.SQRT2;
  return { s, eta, zeta: riemannZeta(s), k1, k2: (Math.sqrt(eta) + 1) / 2 };
}
