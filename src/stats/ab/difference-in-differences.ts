import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel } from '../parameters.ts';
import type { Interval } from '../proportion-interval.ts';
import type { FourCells } from './cell.ts';
import { judgeDifference } from './judge-difference.ts';
import { pooledDegrees } from './student-t.ts';

/** Options of {@link differenceInDifferences}. */
export interface DifferenceInDifferencesOptions {
  /**
   * The error rate of the tests, in (0, 1); intervals have the level 1 - alpha.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * The standard deviation of the expected changes, in the units of the rates; above 0. If `tau` is set, p-values and
   * intervals are always-valid: they remain valid at every check of a running experiment.
   * @defaultValue undefined: the number of rows is fixed in advance, and the result is checked once
   */
  readonly tau?: number | undefined;
  /**
   * How the four estimates depend on each other, for example because clusters have rows in several cells.
   * @defaultValue undefined: the estimates are independent
   */
  readonly covariances?: CellCovariances | undefined;
}

/** The dependence of four estimates. */
export interface CellCovariances {
  /**
   * What dependence adds to the variance of the change: 2 sum c_i c_j cov_ij over pairs of cells, with c = 1 for the group
   * and -1 for the reference under treatment, and the opposite under control.
   */
  readonly change: number;
  /** The same for the sum of both disparities, with c = 1 for the group and -1 for the reference in both arms. */
  readonly sum: number;
  /** The largest number of degrees of freedom, such as the number of different clusters minus 1. */
  readonly maxDegrees: number;
}

const DIFFERENCE_IN_DIFFERENCES_OPTION_NAMES: OptionNames<DifferenceInDifferencesOptions> = {
  alpha: true,
  tau: true,
  covariances: true,
};

/** The change of the disparity between two groups from the control arm to the treatment arm. */
export interface DifferenceInDifferences {
  /** The value of the group minus the value of the reference, in the control arm. */
  readonly controlDisparity: number;
  /** The value of the group minus the value of the reference, in the treatment arm. */
  readonly treatmentDisparity: number;
  /** The treatment disparity minus the control disparity, with its sign. */
  readonly change: number;
  readonly standardError: number;
  /** Satterthwaite's degrees of freedom; Infinity for rates. */
  readonly degrees: number;
  /** The test statistic: change / standardError. */
  readonly statistic: number;
  /** The two-sided p-value of the hypothesis that both arms have the same disparity. */
  readonly pValue: number;
  readonly interval: Interval;
  /** Half the width of `interval`. Without covariances, it is also half the width of `sizeInterval`. */
  readonly margin: number;
  /**
   * The change of the disparity's size: |treatment disparity| - |control disparity|. A value above 0 means that the
   * disparity is larger under treatment.
   */
  readonly sizeChange: number;
  /** The two-sided p-value of the hypothesis that both disparities have the same size. */
  readonly sizePValue: number;
  readonly sizeInterval: Interval;
}

/**
 * Tests whether the disparity between two groups differs between two arms:
 *
 *     change = (treatment: group - reference) - (control: group - reference)
 *     standard error = sqrt(sum of the four variances)
 *
 * A disparity that goes from -0.1 to +0.1 changes by 0.2, but its size stays the same. For the disparities T under
 * treatment and C under control, the change of the size, |T| - |C|, is therefore tested separately, with the same
 * standard error. The magnitude of this change is the smaller of |T - C| and |T + C|. If the true sizes are equal, T -
 * C or T + C has mean 0, so the error rate of the test is at most alpha. If both disparities have the same sign, both
 * tests give the same p-value. With covariances, T - C and T + C have different standard errors, and the larger one is
 * used for the change of the size.
 *
 * The test of rates uses the normal distribution, which requires at least a few dozen rows per cell. The test of means
 * uses Welch's t. If the standard error is 0 or NaN, all results that depend on it are NaN.
 * @throws {ValueError} if alpha or tau is out of range
 * @see R. Johari et al., Always Valid Inference (2022), for tau
 * @example
 * ```ts
 * import { differenceInDifferences, rateCell } from 'evenhand/stats';
 *
 * const result = differenceInDifferences({
 *   control: { group: rateCell(180, 400), reference: rateCell(240, 400) },
 *   treatment: { group: rateCell(220, 400), reference: rateCell(245, 400) },
 * });
 * console.log(result.change.toFixed(4), result.pValue.toFixed(3), result.sizeChange.toFixed(4));
 * // 0.0875 0.076 -0.0875
 * ```
 */
export function differenceInDifferences(
  cells: FourCells,
  options: DifferenceInDifferencesOptions = {},
): DifferenceInDifferences {
  assertKnownOptions('differenceInDifferences', options, DIFFERENCE_IN_DIFFERENCES_OPTION_NAMES);
  const { alpha = 0.05, tau, covariances = INDEPENDENT } = options;
  requireLevel('alpha', alpha);
  if (tau !== undefined && !(tau > 0 && tau < Infinity)) throw invalidParameter('tau', 'be a number above 0', tau);
  const { control, treatment } = cells;
  const controlDisparity = control.group.value - control.reference.value;
  const treatmentDisparity = treatment.group.value - treatment.reference.value;
  const all = [control.group, control.reference, treatment.group, treatment.reference];
  const variance = all.reduce((sum, cell) => sum + cell.variance, 0);
  // Rounding may leave a negative variance if estimates always change together.
  const errorOf = (added: number): number => Math.sqrt(Math.max(0, variance + added));
  const [standardError, sumError] = [errorOf(covariances.change), errorOf(covariances.sum)];
  const pooled = pooledDegrees(all);
  const degrees = pooled === Infinity ? pooled : Math.min(pooled, covariances.maxDegrees);
  const judge = (value: number, error: number): ReturnType<typeof judgeDifference> =>
    judgeDifference({ value, standardError: error, degrees }, { alpha, tau });
  const signed = judge(treatmentDisparity - controlDisparity, standardError);
  const size = judge(Math.abs(treatmentDisparity) - Math.abs(controlDisparity), Math.max(standardError, sumError));
  return Object.freeze({
    controlDisparity,
    treatmentDisparity,
    change: signed.value,
    standardError,
    degrees: signed.degrees,
    statistic: signed.value / standardError,
    pValue: signed.pValue,
    interval: Object.freeze(signed.interval),
    margin: signed.margin,
    sizeChange: size.value,
    sizePValue: size.pValue,
    sizeInterval: Object.freeze(size.interval),
  });
}

const INDEPENDENT: CellCovariances = { change: 0, sum: 0, maxDegrees: Infinity };
