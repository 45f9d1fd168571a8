import { invalidParameter } from '../../internal/arguments.ts';
import { requireCount, requireSuccesses } from '../parameters.ts';

/** The estimate for one group in one arm of an experiment, with its uncertainty. */
export interface Cell {
  /** The group's rate or mean in this arm. */
  readonly value: number;
  /** The variance of the estimate: its standard error squared. */
  readonly variance: number;
  /** Degrees of freedom of the variance. Infinity for rates, because the rate determines the variance. */
  readonly degrees: number;
}

/** A rate in one arm, with its counts. */
export interface RateCell extends Cell {
  readonly successes: number;
  readonly trials: number;
}

/** The estimates of two groups in two arms. */
export interface FourCells<Kind extends Cell = Cell> {
  readonly control: { readonly group: Kind; readonly reference: Kind };
  readonly treatment: { readonly group: Kind; readonly reference: Kind };
}

/**
 * Returns a rate p = k / n with the variance p (1 - p) / n. If there are no successes or no failures, this variance
 * would be 0, as if the rate were known exactly. In that case, half a success and half a failure are added before the
 * variance is computed, as is usual for log-odds.
 *
 * @param successes k, from 0 to `trials`; fractions are allowed (effective counts)
 * @param trials n; if n is 0, the value and the variance are NaN
 * @throws {ValueError} if a count is out of range
 * @example
 * ```ts
 * import { rateCell } from 'evenhand/stats';
 *
 * console.log(rateCell(180, 400).value, rateCell(180, 400).variance.toFixed(8));
 * // 0.45 0.00061875
 * ```
 */
export function rateCell(successes: number, trials: number): RateCell {
  requireCount('trials', trials);
  requireSuccesses('successes', successes, 'trials', trials);
  const value = successes / trials;
  const inner = successes > 0 && successes < trials ? value : (successes + 0.5) / (trials + 1);
  const variance = trials === 0 ? NaN : (inner * (1 - inner)) / trials;
  return Object.freeze({ value, variance, degrees: Infinity, successes, trials });
}

/**
 * Returns a mean with the variance s^2 / n and n - 1 degrees of freedom.
 * @param mean the mean of the values
 * @param spread s^2, the variance of the values (divided by n - 1)
 * @param n the number of values, or the effective number of values; if n is 1 or less, the variance is NaN
 * @throws {ValueError} if the variance or the number of values is negative
 * @example
 * ```ts
 * import { meanCell } from 'evenhand/stats';
 *
 * console.log(meanCell(12.5, 4, 100).variance);
 * // 0.04
 * ```
 */
export function meanCell(mean: number, spread: number, n: number): Cell {
  requireCount('n', n);
  if (spread < 0) throw invalidParameter('spread', 'be a number of at least 0', spread);
  return Object.freeze(
    n > 1 ? { value: mean, variance: spread / n, degrees: n - 1 } : { value: mean, variance: NaN, degrees: 0 },
  );
}
