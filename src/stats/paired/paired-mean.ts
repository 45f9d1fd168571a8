import { meanOf } from '../../internal/values.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { twoSidedCritical } from '../ab/student-t.ts';
import { criticalValue } from '../normal.ts';
import { requireLevel } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';

/** Options of {@link pairedMean}. */
export interface PairedMeanOptions {
  /**
   * The confidence level, in (0, 1).
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
  /**
   * The largest absolute value that a difference can have, for example 1 for differences of rates. Set this option if
   * all differences of a small sample may be equal.
   * @defaultValue undefined: no bound
   */
  readonly bound?: number | undefined;
  /**
   * The smallest nonzero difference that a pair can have, for example 1/m for shares of m answers. This option is used
   * only if `bound` is set.
   * @defaultValue the bound
   */
  readonly step?: number | undefined;
}

const PAIRED_MEAN_OPTION_NAMES: OptionNames<PairedMeanOptions> = { level: true, bound: true, step: true };

/** A mean of paired differences with its uncertainty. */
export interface PairedMean {
  /** The mean; NaN if there are no differences. */
  readonly value: number;
  /**
   * The standard error of the mean. The standard error is NaN if there are fewer than two differences, or if all
   * differences are equal and there is no bound.
   */
  readonly standardError: number;
  readonly degrees: number;
  /** The confidence interval; null if the standard error is NaN. */
  readonly interval: Interval | null;
}

/**
 * Computes the mean of paired differences with its confidence interval.
 *
 * If no bound is set, the interval uses Student's t: mean ± t(n - 1) s / sqrt(n). If a bound B is set, two pairs are
 * added: their differences are `step` and -`step`. The mean and the standard deviation (divided by n + 2) of the
 * extended set give a normal interval, clipped to [-B, B]. For differences of single yes-or-no answers (bound and step
 * 1), this is Bonett and Price's interval. This interval keeps its confidence level even if there are few pairs or no
 * pair differs. `value` is always the mean without the added pairs.
 * @param differences the first value minus the second for each independent pair; finite
 * @throws {ValueError} if the level or the bound is out of range, or a difference exceeds the bound
 * @see D. Bonett, R. Price, Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired
 *   Data, Journal of Educational and Behavioral Statistics 37 (2012)
 * @example
 * ```ts
 * import { pairedMean } from 'evenhand/stats';
 *
 * const { value, interval } = pairedMean([0, 0, 1, 0, 0, 0, 0, -1, 1, 0], { bound: 1 });
 * console.log(value, interval?.map((end) => end.toFixed(2)).join(' to '));
 * // 0.1 -0.28 to 0.45
 * ```
 */
export function pairedMean(differences: ArrayLike<number>, options: PairedMeanOptions = {}): PairedMean {
  assertKnownOptions('pairedMean', options, PAIRED_MEAN_OPTION_NAMES);
  const { level = 0.95, bound, step = bound } = options;
  requireLevel('level', level);
  const values = Float64Array.from(differences);
  if (bound !== undefined) requireBound(values, bound);
  if (step !== undefined && !(step > 0 && step <= (bound ?? 0))) {
    throw invalidParameter('step', 'be a number above 0 and at most the bound', step);
  }
  const value = values.length === 0 ? NaN : meanOf(values);
  const isBounded = bound !== undefined && values.length > 0;
  const counted = isBounded && step !== undefined ? [...values, step, -step] : values;
  const centre = meanOf(counted);
  const degrees = isBounded ? Infinity : values.length - 1;
  const squares = [...counted].reduce((sum, each) => sum + (each - centre) ** 2, 0);
  const variance = squares / (isBounded ? counted.length : degrees);
  const spread = Math.sqrt(variance / counted.length);
  // A standard error that comes only from rounding is treated as undefined.
  const standardError = spread > 1e-15 * Math.abs(centre) ? spread : NaN;
  if (Number.isNaN(standardError)) return { value, standardError, degrees: Math.max(0, degrees), interval: null };
  const margin = (isBounded ? criticalValue(level) : twoSidedCritical(level, degrees)) * standardError;
  const interval: Interval = isBounded
    ? [Math.max(-bound, centre - margin), Math.min(bound, centre + margin)]
    : [centre - margin, centre + margin];
  return { value, standardError, degrees, interval };
}

function requireBound(values: Float64Array, bound: number): void {
  if (!(bound > 0 && bound < Infinity)) throw invalidParameter('bound', 'be a number above 0', bound);
  // Because of rounding, a mean of several answers may be slightly above the bound.
  const beyond = values.find((value) => !(Math.abs(value) <= bound * (1 + 1e-9)));
  if (beyond !== undefined) {
    throw invalidParameter('differences', `be within the bound, from ${String(-bound)} to ${String(bound)}`, beyond);
  }
}
