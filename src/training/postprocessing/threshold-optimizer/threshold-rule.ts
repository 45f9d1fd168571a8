/** Decides 1 for scores above (or below) a threshold; infinite thresholds decide the same for all. */
export interface ThresholdOperation {
  readonly operator: '>' | '<';
  /** In the units of the scores; a score equal to it is neither above nor below. */
  readonly threshold: number;
}

/**
 * A randomised rule: with probability `pIgnore` the score is ignored and 1 has
 * probability `predictionConstant`; otherwise `operation0` decides with
 * probability `p0` and `operation1` with `p1`. p0 + p1 = 1.
 */
export interface ThresholdInterpolation {
  readonly p0: number;
  readonly operation0: ThresholdOperation;
  readonly p1: number;
  readonly operation1: ThresholdOperation;
  /** 0 but for equalized odds. */
  readonly pIgnore: number;
  readonly predictionConstant: number;
}

/** Whether an operation decides 1 for a score. */
function decides({ operator, threshold }: ThresholdOperation, score: number): boolean {
  return operator === '>' ? score > threshold : score < threshold;
}

/** The probability of a decision 1 under a rule, from what its two operations decide. */
export function mixDecisions(rule: ThresholdInterpolation, decision0: number, decision1: number): number {
  const { p0, p1, pIgnore, predictionConstant } = rule;
  return pIgnore * predictionConstant + (1 - pIgnore) * (p0 * decision0 + p1 * decision1);
}

/** The probability in [0, 1] of a decision 1 for a score. */
export function probabilityOfPositive(rule: ThresholdInterpolation, score: number): number {
  const mixed = mixDecisions(rule, Number(decides(rule.operation0, score)), Number(decides(rule.operation1, score)));
  // c q + (1 - q) may come out a rounding above 1.
  return Math.min(1, mixed);
}

/** A rule that always asks one operation. */
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

/** A rule that nobody can change. */
export function freezeRule(rule: ThresholdInterpolation): ThresholdInterpolation {
  const { operation0, operation1 } = rule;
  return Object.freeze({
    ...rule,
    operation0: Object.freeze({ ...operation0 }),
    operation1: Object.freeze({ ...operation1 }),
  });
}
