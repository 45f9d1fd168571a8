/** Decides 1 for scores above (or below) a threshold. An infinite threshold gives all rows the same decision. */
export interface ThresholdOperation {
  readonly operator: '>' | '<';
  /** In the units of the scores. A score equal to the threshold is neither above nor below it. */
  readonly threshold: number;
}

/**
 * A randomised rule. With probability `pIgnore` it ignores the score and decides 1 with probability
 * `predictionConstant`. Otherwise `operation0` decides with probability `p0` and `operation1` with probability `p1`.
 * p0 + p1 = 1.
 */
export interface ThresholdInterpolation {
  readonly p0: number;
  readonly operation0: ThresholdOperation;
  readonly p1: number;
  readonly operation1: ThresholdOperation;
  /** 0 for all constraints except equalized odds. */
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
