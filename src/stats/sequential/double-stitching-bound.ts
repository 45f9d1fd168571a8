import { sigmoid } from '../../internal/values.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel } from '../parameters.ts';
import { requirePositive, requireTimeAndLevel } from './mixture-parameters.ts';
import { STITCHING_SHAPE_NAMES, stitchingFrom, type StitchingShape } from './poly-stitching-bound.ts';

/** Options of {@link doubleStitchingBound}. */
export interface DoubleStitchingOptions extends StitchingShape {
  /** The number of values after which the boundary starts to grow. This number must be at least 1. */
  readonly tOpt: number;
  /**
   * The grid width of the quantiles, in log-odds. The width must be above 0.
   * @defaultValue 0.5
   */
  readonly delta?: number;
}

const DOUBLE_STITCHING_OPTION_NAMES: OptionNames<DoubleStitchingOptions> = {
  ...STITCHING_SHAPE_NAMES,
  tOpt: true,
  delta: true,
};

/**
 * Computes a boundary that holds for all quantiles at all times. For independent values of one distribution, let N be
 * the number of the first t values that are at or below the p-quantile. Then N - t p stays below the boundary for all p
 * and t simultaneously, with probability at least 1 - alpha / 2 for each side.
 *
 * Times are stitched over epochs, and quantiles over a grid in log-odds. The boundary is delta sqrt(eta w q / tOpt) +
 * sqrt(k1^2 q w l + (k2 c l)^2) + k2 c l, where w = max(t, tOpt), q = r (1 - r) and c = (1 - 2 p) / 3. r is the next
 * quantile of the grid towards 1/2 (p itself if p is at least 1/2). The last term is l = s ln(ln(eta w / tOpt)) + s ln
 * j + ln(2 zeta(s) (2 zeta(s) + 1) / (alpha ln(eta)^s)) with j = sqrt(w / tOpt) |logit p| / (2 delta) + 1.
 * @param p the quantile, in (0, 1)
 * @param t the number of values, at least 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard, A. Ramdas, Sequential estimation of quantiles (2022)
 * @example
 * ```ts
 * import { doubleStitchingBound } from 'evenhand/stats';
 *
 * console.log(doubleStitchingBound(0.5, 1000, 0.05, { tOpt: 100 }).toFixed(4));
 * // 68.6280
 * ```
 */
export function doubleStitchingBound(p: number, t: number, alpha: number, options: DoubleStitchingOptions): number {
  assertKnownOptions('doubleStitchingBound', options, DOUBLE_STITCHING_OPTION_NAMES);
  const { tOpt, delta = 0.5, ...shape } = options;
  requireLevel('p', p);
  requireTimeAndLevel(t, alpha);
  requirePositive('delta', delta);
  if (!(tOpt >= 1 && tOpt < Infinity)) throw invalidParameter('tOpt', 'be a finite number of at least 1', tOpt);
  const { s, eta, zeta, k1, k2 } = stitchingFrom(shape);
  const time = Math.max(t, tOpt);
  const logit = Math.log(p / (1 - p));
  const next = p >= 0.5 ? p : Math.min(0.5, sigmoid(logit + 2 * delta * Math.sqrt((tOpt * eta) / time)));
  const variance = next * (1 - next);
  const gridIndex = (Math.sqrt(time / tOpt) * Math.abs(logit)) / (2 * delta) + 1;
  const epoch = Math.log((eta * time) / tOpt) / Math.log(eta);
  const level = s * Math.log(epoch * gridIndex) + Math.log((2 * zeta * (2 * zeta + 1)) / alpha);
  const linear = (k2 * (1 - 2 * p) * level) / 3;
  const gridGap = delta * Math.sqrt((eta * time * variance) / tOpt);
  return gridGap + Math.hypot(k1 * Math.sqrt(variance * time * level), linear) + linear;
}
