import type { ABSettings } from './ab-test-options.ts';

/** The reason why a row is excluded. */
export type RowProblem = 'outcome' | 'label' | 'weight';

/** The two ends of an interval. The lower end comes first. */
export type ABInterval = readonly [low: number, high: number];

/** A value for each arm. */
export interface PerArm<T = number> {
  readonly control: T;
  readonly treatment: T;
}

/** The effect of the treatment on the outcome of a set of rows: treatment minus control. */
export interface ABEffect {
  /** The number of rows included in the measure. */
  readonly n: PerArm;
  /**
   * The effective number of rows, (sum w)^2 / sum w^2 with the weights w. Without weights, the effective number equals
   * `n`.
   */
  readonly effective: PerArm;
  /** The rate or mean in the control arm; null if the arm has no rows. */
  readonly control: number | null;
  readonly treatment: number | null;
  /** treatment - control; null if either arm has no rows. */
  readonly value: number | null;
  readonly standardError: number | null;
  /**
   * The confidence interval at level 1 - alpha, not adjusted: Newcombe's for rates, Welch's for means, and
   * anytime-valid in the sequential mode.
   */
  readonly interval: ABInterval | null;
  /** The two-sided p-value of the hypothesis of no effect, not adjusted. */
  readonly pValue: number | null;
}

/** The effect on one group. */
export interface ABGroup extends ABEffect {
  readonly group: string;
  /** The reason why the group is not compared with other groups; null if it is compared. */
  readonly excluded: string | null;
}

/**
 * The finding about the change of a disparity. `changed` means that the disparity changed significantly, but its size
 * did not.
 */
export type ABFinding = 'worse' | 'better' | 'changed' | 'no_change_shown' | 'cannot_tell';

/** The comparison of two groups of an attribute by one measure of a metric. */
export interface ABRow {
  /** `sex`, or `sex||race`. */
  readonly attribute: string;
  /** The fairness metric, or the column of a business metric. */
  readonly metric: string;
  /** The compared measure, such as `selection_rate`. */
  readonly measure: string;
  readonly group: string;
  /** The reference group. */
  readonly reference: string;
  readonly n: PerArm<{ readonly group: number; readonly reference: number }>;
  /** The effect of the treatment on all rows, on the group and on the reference group. */
  readonly effect: { readonly overall: ABEffect; readonly group: ABEffect; readonly reference: ABEffect };
  /** The disparity in each arm: the value of the group minus the value of the reference group. */
  readonly disparity: PerArm<number | null>;
  /**
   * The signed disparity under treatment minus the signed disparity under control. This change equals the effect on the
   * group minus the effect on the reference group.
   */
  readonly fairnessChange: number | null;
  readonly standardError: number | null;
  /** The interval of `fairnessChange` at level 1 - alpha, not adjusted. */
  readonly interval: ABInterval | null;
  /** The two-sided p-value of the hypothesis that the disparity did not change. */
  readonly pValue: number | null;
  /**
   * The p-value, adjusted for the number of tests over all attributes, metrics, measures and pairs (Benjamini and
   * Hochberg).
   */
  readonly adjustedPValue: number | null;
  /**
   * |disparity under treatment| - |disparity under control|. A value above 0 means that the groups differ more under
   * treatment.
   */
  readonly sizeChange: {
    readonly value: number | null;
    readonly interval: ABInterval | null;
    readonly pValue: number | null;
    /**
     * The p-value of the change in size, adjusted for the number of tested rows. This p-value determines whether the
     * finding is `worse` or `better`.
     */
    readonly adjustedPValue: number | null;
  };
  /**
   * The logarithm of the ratio of the two groups' odds ratios, which is computed only for a fixed sample size. Null for
   * means, and if a cell has no successes or no failures.
   */
  readonly logitInteraction: {
    readonly estimate: number;
    readonly standardError: number;
    readonly pValue: number;
  } | null;
  /** The size of change for which `power` is computed, in the units of the outcome. */
  readonly minimumEffect: number | null;
  /** The probability that a single test at level alpha detects a change of `minimumEffect` at this sample size. */
  readonly power: number | null;
  /**
   * The minimum detectable difference: the smallest change that a single test at level alpha detects with 80% power at
   * this sample size.
   */
  readonly detectable: number | null;
  readonly finding: ABFinding;
  /** The finding in words. */
  readonly verdict: string;
}

/** The largest value minus the smallest value of the compared groups, in each arm. */
export interface ABGap {
  readonly groups: number;
  readonly control: number;
  readonly treatment: number;
  readonly change: number;
  readonly interval: ABInterval;
  /** How the interval was computed: `pair` (two groups), `difference-of-simultaneous` or `anytime-bonferroni`. */
  readonly method: string;
}

/** The result of a check of whether both arms have the same proportions of groups. */
export interface SampleRatio {
  /** The share of rows in the treatment arm, by group. */
  readonly groups: readonly { readonly group: string; readonly n: PerArm; readonly treatmentShare: number }[];
  /** Pearson's chi-square test of independence of arm and group. Null if there are fewer than two groups. */
  readonly pValue: number | null;
}

/** The comparison of one measure between the groups of one attribute. */
export interface ABComparison {
  readonly attribute: string;
  readonly metric: string;
  readonly measure: string;
  readonly kind: 'rate' | 'mean';
  readonly reference: string | null;
  readonly overall: ABEffect;
  readonly groups: readonly ABGroup[];
  /** Null if fewer than two groups can be compared. */
  readonly gap: ABGap | null;
  /** The comparisons of pairs: one row for each group except the reference group. */
  readonly rows: readonly ABRow[];
  /**
   * The number of excluded rows, by arm and reason. If there are several reasons to exclude a row, the row is counted
   * under the first reason.
   */
  readonly dropped: PerArm<Readonly<Record<'group' | RowProblem, number>>>;
}

/** The results of an analysis as plain data. */
export interface ABTestFields {
  readonly n: PerArm;
  /** All pairs of all fairness comparisons. */
  readonly rows: readonly ABRow[];
  readonly comparisons: readonly ABComparison[];
  /**
   * The comparisons of business metrics. Their p-values are adjusted separately and do not affect the fairness
   * finding.
   */
  readonly business: readonly ABComparison[];
  /** The number of tests for which p-values were adjusted. */
  readonly nTests: { readonly fairness: number; readonly business: number };
  readonly checks: {
    /** The chi-square test of whether the treatment arm has the expected share of rows. */
    readonly sampleRatio: { readonly treatmentShare: number; readonly expected: number; readonly pValue: number };
    readonly byAttribute: readonly (SampleRatio & { readonly attribute: string })[];
    /**
     * The number of ids that occur in both arms, and the number of rows that repeat an id of the same arm. Null if
     * there is no id column.
     */
    readonly overlap: { readonly inBothArms: number; readonly repeated: PerArm } | null;
  };
  readonly warnings: readonly string[];
  readonly finding: ABFinding;
  readonly verdict: string;
  readonly settings: ABSettings;
}

/** Returns an interval, or null if one of its ends is undefined. */
export function definedInterval([low, high]: ABInterval): ABInterval | null {
  return Number.isNaN(low) || Number.isNaN(high) ? null : Object.freeze<ABInterval>([low, high]);
}

/** Returns a frozen object with a value for each arm. */
export function perArm<Value>(valueOf: (arm: keyof PerArm) => Value): PerArm<Value> {
  return Object.freeze({ control: valueOf('control'), treatment: valueOf('treatment') });
}
