import { normalCdf } from '../normal.ts';
import type { FourCells, RateCell } from './cell.ts';

/** The interaction of group and arm on the log-odds scale. */
export interface LogitInteraction {
  /** The estimated interaction: ln (odds ratio under treatment / odds ratio under control). */
  readonly estimate: number;
  readonly standardError: number;
  /** The two-sided p-value of the hypothesis that the interaction is 0. */
  readonly pValue: number;
}

/**
 * Computes the interaction term of a saturated logistic regression of the outcome on group and arm. The interaction is
 * the logarithm of the ratio of the two odds ratios, with the standard error sqrt(sum over cells of 1 / successes + 1 /
 * failures).
 *
 * The interaction answers a different question than a difference in differences. If one rate changes from 0.05 to 0.10
 * and another rate from 0.10 to 0.15, the difference of the rates does not change, but their odds ratio changes. The
 * result is NaN if a cell has no success or no failure.
 * @param covariance what dependence of the four log-odds adds to the variance of the interaction; 0 if they are independent
 * @see A. Agresti, Categorical Data Analysis (2013), chapter 5
 * @example
 * ```ts
 * import { logitInteraction, rateCell } from 'evenhand/stats';
 *
 * const { estimate, pValue } = logitInteraction({
 *   control: { group: rateCell(180, 400), reference: rateCell(240, 400) },
 *   treatment: { group: rateCell(220, 400), reference: rateCell(245, 400) },
 * });
 * console.log(estimate.toFixed(4), pValue.toFixed(4));
 * // 0.3490 0.0854
 * ```
 */
export function logitInteraction({ control, treatment }: FourCells<RateCell>, covariance = 0): LogitInteraction {
  const cells = [control.group, control.reference, treatment.group, treatment.reference];
  const isDefined = cells.every(({ successes, trials }) => successes > 0 && successes < trials);
  if (!isDefined) return Object.freeze({ estimate: NaN, standardError: NaN, pValue: NaN });
  const estimate =
    logOdds(treatment.group) - logOdds(treatment.reference) - (logOdds(control.group) - logOdds(control.reference));
  const standardError = Math.sqrt(
    Math.max(
      0,
      cells.reduce((sum, cell) => sum + 1 / cell.successes + 1 / (cell.trials - cell.successes), covariance),
    ),
  );
  return Object.freeze({ estimate, standardError, pValue: 2 * normalCdf(-Math.abs(estimate / standardError)) });
}

function logOdds({ successes, trials }: RateCell): number {
  return Math.log(successes / (trials - successes));
}
