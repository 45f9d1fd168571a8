import { assertKnownOptions } from '../../internal/arguments.ts';
import type { TableSource } from '../../table/index.ts';
import {
  AB_ANALYSIS_OPTION_NAMES,
  AB_TEST_OPTION_NAMES,
  type ABAnalysisOptions,
  type ABSettings,
  type ABTestOptions,
  fillSettings,
  sequentialSettings,
} from './ab-test-options.ts';
import { ABTestResult } from './ab-test-result.ts';
import { runABTest } from './run-ab-test.ts';

/**
 * Compares the fairness of two arms of an experiment: a model, a rule or a page
 * as it is (control) and as it may become (treatment).
 *
 * For each sensitive attribute, and each crossing, by each metric:
 *
 * - the effect of the treatment on each group and on all rows, rate under
 *   treatment minus rate under control, with Newcombe's interval (means: Welch's);
 * - the change of the disparity between a group and the reference group (the
 *   largest, unless named), a difference in differences:
 *   (treatment: group - reference) - (control: group - reference), with the
 *   standard error of its four cells, an interval and a two-sided p-value;
 * - the change of the disparity's size apart, |treatment| - |control|, since a
 *   disparity that turns around changes without growing; this one decides
 *   whether fairness got worse;
 * - the power of this n for a given change, and the smallest change that it
 *   shows with probability 0.8.
 *
 * P-values are adjusted over all attributes, metrics and pairs (Benjamini and
 * Hochberg); intervals are each by itself. In the sequential mode the experiment
 * may be looked at as often as one likes and stopped at any time (mixture
 * sequential probability ratio test), which costs width: at 400 rows a cell
 * intervals are 1.85 times as wide. Its guarantee is asymptotic: `minGroupSize`
 * keeps looks at fewer rows a cell from counting.
 *
 * A group below `minGroupSize` in either arm, or in one arm only, is named and
 * not compared. Rows without a group or a value are left out and counted. An
 * assignment that looks broken is warned of.
 *
 * What it cannot do: labels that exist only for those who were selected differ
 * by arm, and rates over them do too; an outcome that shows late is judged too
 * soon; no change shown is not proof of no change.
 * @see R. Johari et al., Always Valid Inference (2022)
 * @see R. Newcombe, Interval Estimation for the Difference Between Independent Proportions (1998)
 * @example
 * ```ts
 * import { FairnessABTestAnalyzer } from 'evenhand/monitoring';
 *
 * const arm = (approved: Record<string, number>) =>
 *   Object.entries(approved).flatMap(([sex, count]) =>
 *     Array.from({ length: 400 }, (_, row) => ({ sex, approved: Number(row < count) })),
 *   );
 * const analyzer = new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'approved' });
 * const result = analyzer.analyze(arm({ female: 180, male: 240 }), arm({ female: 220, male: 245 }));
 * const [row] = result.rows;
 * console.log(row?.fairnessChange?.toFixed(4), row?.pValue?.toFixed(3));
 * console.log(row?.verdict);
 * // -0.0875 0.076
 * // no change shown (adjusted p = 0.076); this n could have shown 0.14 at best
 * ```
 */
export class FairnessABTestAnalyzer {
  readonly settings: ABSettings;

  /** @throws {ValueError} for a parameter out of range, an unknown metric, or a metric that needs yTrue without it */
  constructor(options: ABTestOptions) {
    assertKnownOptions('FairnessABTestAnalyzer', options, AB_TEST_OPTION_NAMES);
    this.settings = fillSettings(options);
    Object.freeze(this);
  }

  /**
   * Compares the rows of two arms. The same rows give the same result.
   * @param control the rows as it is: a table, an object of columns, records, a danfojs DataFrame
   * @param treatment the rows as it may become, with the same columns
   * @throws {DataValidationError} for an empty arm, a missing column, decisions that are not 0 or 1, infinities, negative weights, or an unknown reference group
   */
  analyze(control: TableSource, treatment: TableSource, options: ABAnalysisOptions = {}): ABTestResult {
    assertKnownOptions('FairnessABTestAnalyzer.analyze', options, AB_ANALYSIS_OPTION_NAMES);
    const settings =
      options.sequential === undefined
        ? this.settings
        : Object.freeze({ ...this.settings, ...sequentialSettings(options.sequential) });
    return new ABTestResult(runABTest(control, treatment, settings));
  }
}
