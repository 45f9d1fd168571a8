import type { ThresholdConstraintName, ThresholdObjectiveName } from './constraints.ts';

/** Decides 1 for scores above (or below) a threshold. An infinite threshold gives all rows the same decision. */
export interface ThresholdOperation {
  readonly operator: '>' | '<';
  /** The threshold, in the units of the scores. A score that equals the threshold is neither above nor below it. */
  readonly threshold: number;
}

/**
 * A randomised rule. With probability `pIgnore` it ignores the score and decides 1 with probability
 * `predictionConstant`. Otherwise, the decision is made by `operation0` with probability `p0`, and by `operation1` with
 * probability `p1`. The sum of p0 and p1 is 1.
 */
export interface ThresholdInterpolation {
  readonly p0: number;
  readonly operation0: ThresholdOperation;
  readonly p1: number;
  readonly operation1: ThresholdOperation;
  /** The probability that the rule ignores the score; 0 for all constraints except equalized odds. */
  readonly pIgnore: number;
  readonly predictionConstant: number;
}

/** Returns whether an operation decides 1 for a score. */
function decides({ operator, threshold }: ThresholdOperation, score: number): boolean {
  return operator === '>' ? score > threshold : score < threshold;
}

/** Returns the probability that a rule decides 1, given the decisions of its two operations. */
export function mixDecisions(rule: ThresholdInterpolation, decision0: number, decision1: number): number {
  const { p0, p1, pIgnore, predictionConstant } = rule;
  return pIgnore * predictionConstant + (1 - pIgnore) * (p0 * decision0 + p1 * decision1);
}

/** Returns the probability in [0, 1] that a rule decides 1 for a score. */
export function probabilityOfPositive(rule: ThresholdInterpolation, score: number): number {
  const mixed = mixDecisions(rule, Number(decides(rule.operation0, score)), Number(decides(rule.operation1, score)));
  // Rounding can raise c q + (1 - q) slightly above 1.
  return Math.min(1, mixed);
}

/** Returns a rule that always applies one operation. */
export function deterministicRule(operation: ThresholdOperation): ThresholdInterpolation {
  return freezeRule({
    p0: 1,
    operation0: operation,
    p1: 0,
    operation1: operation,
    pIgnore: 0,
    predictionConstant: 0,
  });
}

/** Returns a frozen copy of a rule. */
export function freezeRule(rule: ThresholdInterpolation): ThresholdInterpolation {
  const { operation0, operation1 } = rule;
  return Object.freeze({
    ...rule,
    operation0: Object.freeze({ ...operation0 }),
    operation1: Object.freeze({ ...operation1 }),
  });
}

/** If two sums, or two differences of grid values, differ by less than this value, they are treated as equal. */
export const ROUNDING = 1e-12;

/**
 * Returns gridSize + 1 numbers from 0 to 1, evenly spaced. The numbers are multiples of the rounded step, as in numpy's
 * linspace. If the rate of a rule is exactly the rate of a threshold, the rule therefore has the same two thresholds as
 * in fairlearn.
 */
export function unitGrid(gridSize: number): Float64Array {
  const step = 1 / gridSize;
  return Float64Array.from({ length: gridSize + 1 }, (_, index) => (index === gridSize ? 1 : index * step));
}

/**
 * Returns the index of the first value that equals the largest value up to rounding errors, so that the order in which
 * the groups were added does not affect the choice.
 */
export function firstOfLargest(values: Float64Array): number {
  const largest = values.reduce((a, b) => Math.max(a, b));
  return values.findIndex((value) => value >= largest - ROUNDING);
}

/** The settings used to choose the rules. */
export interface ThresholdSettings {
  readonly constraint: ThresholdConstraintName;
  readonly objective: ThresholdObjectiveName;
  /** The number of steps of the grid of rates. The grid has `gridSize` + 1 points. */
  readonly gridSize: number;
  /** Whether low scores may be selected instead of high scores. */
  readonly flip: boolean;
  /** The largest allowed difference between two groups' constrained rates, in [0, 1]. */
  readonly tolerance: number;
}

/** The rule of one group, and its expected rates on the rows used to choose it. */
export interface GroupThresholds {
  readonly group: string;
  /** The number of rows with a weight above 0. */
  readonly n: number;
  /** The total weight of the rows with a weight above 0. If no weights were given, it is the number of rows. */
  readonly weight: number;
  readonly interpolation: ThresholdInterpolation;
  readonly selectionRate: number;
  /** The true positive rate; null if the group has no rows with label 1. */
  readonly truePositiveRate: number | null;
  /** The false positive rate; null if the group has no rows with label 0. */
  readonly falsePositiveRate: number | null;
  readonly accuracy: number;
}

/** The rule that is best for all rows together, regardless of groups. */
export interface PooledThreshold {
  readonly interpolation: ThresholdInterpolation;
  /** The objective over all rows. */
  readonly objectiveValue: number;
}

/** Rules per group, with the settings that produced them. */
export interface ThresholdRules extends ThresholdSettings {
  /** The number of rows with a weight above 0. */
  readonly n: number;
  /** The number of excluded rows, which have weight 0. */
  readonly nZeroWeight: number;
  /** One entry per group, in the order of the labels. */
  readonly groups: readonly GroupThresholds[];
  /**
   * The value of the objective. For equalized odds, it is computed over all rows. For other constraints, it is the
   * weighted mean of the groups' own values. For accuracy and selection rate, both definitions give the same value.
   */
  readonly objectiveValue: number;
  /** The largest difference between two groups' constrained rates. */
  readonly gap: number;
  readonly pooled: PooledThreshold;
}
