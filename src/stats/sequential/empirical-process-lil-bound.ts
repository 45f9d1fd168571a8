import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireCount, requireLevel } from '../parameters.ts';
import { rootBetween } from './mixture-bound.ts';

/**
 * The number of steps of the golden-section search. The smallest error is then exact to 1e-15, because the error
 * function is flat near its minimum.
 */
const SECTIONS = 60;

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Options of {@link empiricalProcessLilBound}. */
export interface EmpiricalProcessLilOptions {
  /** The smallest number of values for which the boundary holds. This number must be at least 1. */
  readonly tMin: number;
  /**
   * The leading constant, above 1 / sqrt(2). A larger constant makes the other terms smaller.
   * @defaultValue 0.85
   */
  readonly a?: number;
}

const EMPIRICAL_PROCESS_LIL_OPTION_NAMES: OptionNames<EmpiricalProcessLilOptions> = { tMin: true, a: true };

/**
 * Computes a boundary that holds for a complete distribution function at all times. For independent values of one
 * distribution, the largest distance between the empirical and the true distribution function is below a sqrt((ln(1 +
 * ln(t / tMin)) + C) / t) for all t >= tMin simultaneously, with probability at least 1 - alpha.
 *
 * C is the smallest number at which 4 e^(-y C) (1 + 1 / ((y - 1) ln eta)), with y = (2 / eta) (a - sqrt(2 (eta - 1) /
 * C))^2 > 1, is at most alpha for some eta > 1.
 * @param t the number of values, at least 0; below tMin, the result is Infinity
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard, A. Ramdas, Sequential estimation of quantiles (2022)
 * @example
 * ```ts
 * import { empiricalProcessLilBound } from 'evenhand/stats';
 *
 * console.log(empiricalProcessLilBound(1000, 0.05, { tMin: 100 }).toFixed(4));
 * // 0.0820
 * ```
 */
export function empiricalProcessLilBound(t: number, alpha: number, options: EmpiricalProcessLilOptions): number {
  assertKnownOptions('empiricalProcessLilBound', options, EMPIRICAL_PROCESS_LIL_OPTION_NAMES);
  const { tMin, a = 0.85 } = options;
  requireCount('t', t);
  requireLevel('alpha', alpha);
  if (!(tMin >= 1 && tMin < Infinity)) throw invalidParameter('tMin', 'be a finite number of at least 1', tMin);
  if (!(a > Math.SQRT1_2 && a < Infinity)) throw invalidParameter('a', 'be a finite number above 1 / sqrt(2)', a);
  if (t < tMin) return Infinity;
  return a * Math.sqrt((Math.log1p(Math.log(t / tMin)) + minConstant(alpha, a)) / t);
}

function minConstant(alpha: number, a: number): number {
  const excess = (constant: number): number => minLogError(constant, a) - Math.log(alpha);
  let [low, high] = [1, 1];
  while (excess(high) > 0) high *= 2;
  while (excess(low) < 0) low /= 2;
  return rootBetween(excess, low, high);
}

/**
 * Returns ln of the smallest error over eta. The error is infinite at both ends of its domain and has one minimum
 * between the ends.
 */
function minLogError(constant: number, a: number): number {
  const logError = (eta: number): number => {
    const y = (2 / eta) * (a - Math.sqrt((2 * (eta - 1)) / constant)) ** 2;
    return Math.log(4) - y * constant + Math.log1p(1 / ((y - 1) * Math.log(eta)));
  };
  // The eta at which y equals 1.
  const limit = rootBetween((eta) => Math.sqrt(eta / 2) + Math.sqrt((2 * (eta - 1)) / constant) - a, 1, 2 * a * a);
  let [from, to] = [1, limit];
  for (let section = 0; section < SECTIONS; section++) {
    const span = GOLDEN * (to - from);
    if (logError(to - span) < logError(from + span)) to = from + span;
    else from = to - span;
  }
  return logError((from + to) / 2);
}
