import type { ABSettings } from './ab-test-options.ts';
import type { RowFault } from './measured-rows.ts';

/** The ends of an interval, low first. */
export type ABInterval = readonly [low: number, high: number];

/** A number for each arm. */
export interface PerArm<T = number> {
  readonly control: T;
  readonly treatment: T;
}

/** What the treatment did to the outcome of some rows: treatment minus control. */
export interface ABEffect {
  /** Rows that the measure counts. */
  readonly n: PerArm;
  /** (sum w)^2 / sum w^2; the rows themselves without weights. */
  readonly effective: PerArm;
  /** The rate or mean in the control arm; null without rows. */
  readonly control: number | null;
  readonly treatment: number | null;
  /** treatment - control; null where either has no rows. */
  readonly value: number | null;
  readonly standardError: number | null;
  /** Newcombe's for rates, Welch's for means, anytime-valid in the sequential mode; by itself, at 1 - alpha. */
  readonly interval: ABInterval | null;
  /** Of no effect, to both sides, not adjusted. */
  readonly pValue: number | null;
}

/** The effect on one group. */
export interface ABGroup extends ABEffect {
  readonly group: string;
  /** Why the group is not compared with others; null where it is. */
  readonly excluded: string | null;
}

/** What was found of a change; `changed` where a disparity is another one and whether it grew is not shown. */
export type ABFinding = 'worse' | 'better' | 'changed' | 'no_change_shown' | 'cannot_tell';

/** One pair of groups of one attribute, by one measure of one metric. */
export interface ABRow {
  /** `sex`, or `sex||race`. */
  readonly attribute: string;
  /** The fairness metric, or the column of a business metric. */
  readonly metric: string;
  /** What is compared: `selection_rate`. */
  readonly measure: string;
  readonly group: string;
  /** The group that it is compared with. */
  readonly reference: string;
  readonly n: PerArm<{ readonly group: number; readonly reference: number }>;
  /** The treatment's effect over all rows, on the group and on the reference. */
  readonly effect: { readonly overall: ABEffect; readonly group: ABEffect; readonly reference: ABEffect };
  /** Group minus reference in each arm. */
  readonly disparity: PerArm<number | null>;
  /** Treatment disparity minus control disparity, with its sign: also the effect on the group minus that on the reference. */
  readonly fairnessChange: number | null;
  readonly standardError: number | null;
  /** Of `fairnessChange`, by itself, at 1 - alpha. */
  readonly interval: ABInterval | null;
  /** Of no change of the disparity, to both sides. */
  readonly pValue: number | null;
  /** Benjamini and Hochberg's, over all attributes, metrics, measures and pairs that could be tested. */
  readonly adjustedPValue: number | null;
  /** |treatment disparity| - |control disparity|: above 0 the groups are further apart. */
  readonly sizeChange: {
    readonly value: number | null;
    readonly interval: ABInterval | null;
    readonly pValue: number | null;
    /** Over the same tests; this one decides between worse and better. */
    readonly adjustedPValue: number | null;
  };
  /** The logarithm of the ratio of odds ratios, fixed-sample; null for means and for cells without successes or failures. */
  readonly logitInteraction: {
    readonly estimate: number;
    readonly standardError: number;
    readonly pValue: number;
  } | null;
  /** The change that `power` is of, in the units of the outcome. */
  readonly minimumEffect: number | null;
  /** The probability that this n shows a change of that size, tested alone at alpha. */
  readonly power: number | null;
  /** The smallest change that this n shows with probability 0.8, tested alone at alpha. */
  readonly detectable: number | null;
  readonly finding: ABFinding;
  /** The finding in words. */
  readonly verdict: string;
}

/** The largest minus the smallest group in each arm, over the groups compared. */
export interface ABGap {
  readonly groups: number;
  readonly control: number;
  readonly treatment: number;
  readonly change: number;
  readonly interval: ABInterval;
  /** How the interval was made: `pair` (two groups), `difference-of-simultaneous` or `anytime-bonferroni`. */
  readonly method: string;
}

/** Whether the arms got the same mix of groups. */
export interface SampleRatio {
  /** Share of rows in the treatment arm, by group. */
  readonly groups: readonly { readonly group: string; readonly n: PerArm; readonly treatmentShare: number }[];
  /** Pearson's chi-square test that arm and group are independent; null with fewer than two groups. */
  readonly pValue: number | null;
}

/** One measure, by one attribute. */
export interface ABComparison {
  readonly attribute: string;
  readonly metric: string;
  readonly measure: string;
  readonly kind: 'rate' | 'mean';
  readonly reference: string | null;
  readonly overall: ABEffect;
  readonly groups: readonly ABGroup[];
  /** Null with fewer than two groups that can be compared. */
  readonly gap: ABGap | null;
  /** Every group against the reference. */
  readonly rows: readonly ABRow[];
  /** Rows left out by arm, each under its first reason. */
  readonly dropped: PerArm<Readonly<Record<'group' | RowFault, number>>>;
}

/** What an analysis found, as data. */
export interface ABTestFields {
  readonly n: PerArm;
  /** Every pair of every fairness comparison. */
  readonly rows: readonly ABRow[];
  readonly comparisons: readonly ABComparison[];
  /** The same of business metrics, adjusted by themselves; they decide nothing about fairness. */
  readonly business: readonly ABComparison[];
  /** How many tests the adjustment was over. */
  readonly nTests: PerFamily;
  readonly checks: {
    /** Chi-square test of the share of rows in the treatment arm. */
    readonly sampleRatio: { readonly treatmentShare: number; readonly expected: number; readonly pValue: number };
    readonly byAttribute: readonly (SampleRatio & { readonly attribute: string })[];
    /** Ids that are in both arms, and rows that repeat an id of their arm; null without an id column. */
    readonly overlap: { readonly inBothArms: number; readonly repeated: PerArm } | null;
  };
  readonly warnings: readonly string[];
  readonly finding: ABFinding;
  readonly verdict: string;
  readonly settings: ABSettings;
}

/** A number for fairness and one for business metrics. */
interface PerFamily {
  readonly fairness: number;
  readonly business: number;
}

/** An interval, or null where an end is undefined. */
export function definedInterval([low, high]: ABInterval): ABInterval | null {
  return Number.isNaN(low) || Number.isNaN(high) ? null : Object.freeze<ABInterval>([low, high]);
}
