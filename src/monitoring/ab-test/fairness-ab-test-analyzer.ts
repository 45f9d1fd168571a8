import type { OnProgress } from '../../internal/progress.ts';
import type { TableSource } from '../../table/index.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';
import {
  AB_ANALYSIS_OPTION_NAMES,
  AB_TEST_OPTION_NAMES,
  type ABAnalysisOptions,
  type ABSettings,
  type ABTestOptions,
  fillSettings,
  sequentialSettings,
} from './ab-test-options.ts';
import { compareMeasure, type PreparedMeasure, prepareMeasure } from './compare-measure.ts';
import { BUSINESS_MEASURE, measuresOf } from './fairness-measures.ts';
import { checkAssignment, warningsOf } from './guard-rails.ts';
import { type MeasuredRows, measureRows } from './arm-cells.ts';
import { type ArmRows, readArms } from './read-arms.ts';
import { adjustRows, judgeBusiness, judgeFairness, overallVerdict } from './verdict-words.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { ABTestResult } from './ab-test-result.ts';

/** Compares two arms with the given settings. */
function runABTest(
  control: TableSource,
  treatment: TableSource,
  settings: ABSettings,
  onProgress: OnProgress = () => undefined,
): ABTestFields {
  const kinds = new Set(settings.fairness.flatMap((metric) => measuresOf(metric).map(({ kind }) => kind)));
  const rows = readArms(control, treatment, settings, { decisions: kinds.has('rate'), values: kinds.has('mean') });
  const fairness = fairnessMeasures(rows, settings);
  const business = businessMeasures(rows, settings);
  const total = settings.attributes.length * (fairness.length + business.length);
  let done = 0;
  const compareAll = (measures: readonly PreparedMeasure[]): ABComparison[] =>
    settings.attributes.flatMap(({ name }) =>
      measures.map((prepared) => {
        onProgress({ stage: 'comparing groups', done: done++, total });
        return compareMeasure(rows, prepared, name, settings);
      }),
    );
  const comparisons = adjustRows(compareAll(fairness), judgeFairness(settings.alpha));
  const effects = adjustRows(compareAll(business), judgeBusiness(settings.alpha));
  onProgress({ stage: 'comparing groups', done, total });
  const checks = checkAssignment(rows, settings);
  return {
    n: Object.freeze({ control: rows.nControl, treatment: rows.nRows - rows.nControl }),
    rows: Object.freeze(comparisons.flatMap((comparison) => comparison.rows)),
    comparisons: Object.freeze(comparisons),
    business: Object.freeze(effects),
    nTests: Object.freeze({ fairness: testsOf(comparisons), business: testsOf(effects) }),
    checks,
    warnings: warningsOf(rows, checks, distinct(fairness), comparisons),
    ...overallVerdict(comparisons),
    settings,
  };
}

function fairnessMeasures(rows: ArmRows, settings: ABSettings): PreparedMeasure[] {
  return settings.fairness.flatMap((metric) =>
    measuresOf(metric).map((measure) => {
      const outcome = measure.kind === 'rate' ? rows.decisions : rows.values;
      return prepareMeasure(rows, metric, measureRows(rows, measure, outcome as Float64Array), settings);
    }),
  );
}

function businessMeasures(rows: ArmRows, settings: ABSettings): PreparedMeasure[] {
  return settings.business.map((name) => {
    const values = rows.business.get(name) as Float64Array;
    // minimumEffect and tau are in the units of the outcome, so they are not used for business metrics.
    return prepareMeasure(rows, name, measureRows(rows, BUSINESS_MEASURE, values), {
      ...settings,
      minimumEffect: null,
      tau: null,
    });
  });
}

/** Returns the distinct measures, because two metrics may use the same measure. */
function distinct(measures: readonly PreparedMeasure[]): MeasuredRows[] {
  const byName = new Map(measures.map(({ measured }) => [measured.measure.name, measured]));
  return [...byName.values()];
}

function testsOf(comparisons: readonly ABComparison[]): number {
  return comparisons.flatMap((comparison) => comparison.rows).filter(({ pValue }) => pValue !== null).length;
}

/**
 * Compares the fairness of two arms of an experiment. The control arm is the current version of a model, rule or page.
 * The treatment arm is the new version.
 *
 * For each sensitive attribute, each intersection and each metric, the analyzer computes:
 *
 * - the effect of the treatment on each group and on all rows: the rate under treatment minus the rate under control,
 *   with Newcombe's interval (for means, Welch's interval);
 * - the change of the disparity between a group and the reference group (by default, the largest group). This is a
 *   difference in differences: (treatment: group - reference) - (control: group - reference). This difference has a
 *   standard error from its four cells, an interval and a two-sided p-value;
 * - the change in the size of the disparity, |treatment| - |control|, as a separate result, because a disparity can
 *   change its sign without growing. This result determines whether the finding is worse or better;
 * - the power to detect a given change at this sample size, and the minimum detectable difference at 80% power.
 *
 * P-values are adjusted over all attributes, metrics and pairs (Benjamini and Hochberg). Intervals are not adjusted. In
 * the sequential mode, you may analyse the experiment as often as you like, and stop it at any time (mixture sequential
 * probability ratio test). The disadvantage is that intervals are wider: 1.85 times at 400 rows per cell. The guarantee
 * of the sequential mode is asymptotic, so `minGroupSize` excludes analyses with fewer rows per cell.
 *
 * A group is reported but not compared if it has fewer than `minGroupSize` rows in either arm, or occurs in only one
 * arm. Rows without a group or a value are excluded and counted. A warning is given if the assignment to arms seems to
 * be incorrect.
 *
 * Limitations: if labels exist only for selected rows, the labelled rows differ between the arms. Rates computed from
 * the labelled rows are then not comparable. An analysis may run before a delayed outcome is known. "No change shown"
 * does not prove that nothing changed.
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
 * // no change shown (adjusted p = 0.076); minimum detectable difference 0.14 (80% power, unadjusted)
 * ```
 */
export class FairnessABTestAnalyzer {
  readonly settings: ABSettings;

  /**
   * @throws {ValueError} if a parameter is out of range, if a metric is unknown, or if a metric needs yTrue but yTrue
   * is not set
   */
  constructor(options: ABTestOptions) {
    assertKnownOptions('FairnessABTestAnalyzer', options, AB_TEST_OPTION_NAMES);
    this.settings = fillSettings(options);
    Object.freeze(this);
  }

  /**
   * Compares the rows of two arms. The same rows give the same result.
   * @param control the rows of the current version: a table, an object of columns, records, or a danfojs DataFrame
   * @param treatment the rows of the new version, with the same columns
   * @throws {DataValidationError} if an arm is empty, a column is missing, decisions are not 0 or 1, a value is
   *   infinite, a weight is negative, or a reference group is unknown
   */
  analyze(control: TableSource, treatment: TableSource, options: ABAnalysisOptions = {}): ABTestResult {
    assertKnownOptions('FairnessABTestAnalyzer.analyze', options, AB_ANALYSIS_OPTION_NAMES);
    const settings =
      options.sequential === undefined
        ? this.settings
        : Object.freeze({ ...this.settings, ...sequentialSettings(options.sequential) });
    return new ABTestResult(runABTest(control, treatment, settings, options.onProgress));
  }
}
