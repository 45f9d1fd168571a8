import type { DecisionCounts } from './rates.ts';
import { countsAt, type ScoreCurve } from './score-curve.ts';
import { mixDecisions, type ThresholdInterpolation, type ThresholdOperation } from './threshold-rule.ts';

/** What a rule selects of a group's rows in expectation: the counts of its parts, mixed. */
export function expectedCounts(curve: ScoreCurve, rule: ThresholdInterpolation): DecisionCounts {
  const { positives, negatives } = curve;
  const first = countsUnder(curve, rule.operation0);
  const second = countsUnder(curve, rule.operation1);
  const mix = (all: number, selected0: number, selected1: number): number =>
    // A group without such rows selects none of them.
    all === 0 ? 0 : all * mixDecisions(rule, selected0 / all, selected1 / all);
  return {
    truePositives: mix(positives, first.truePositives, second.truePositives),
    falsePositives: mix(negatives, first.falsePositives, second.falsePositives),
    positives,
    negatives,
  };
}

/** The counts of several groups together. */
export function sumCounts(groups: readonly DecisionCounts[]): DecisionCounts {
  const total = { truePositives: 0, falsePositives: 0, positives: 0, negatives: 0 };
  for (const counts of groups) {
    total.truePositives += counts.truePositives;
    total.falsePositives += counts.falsePositives;
    total.positives += counts.positives;
    total.negatives += counts.negatives;
  }
  return total;
}

/** What an operation selects, found by its threshold among the scores. */
function countsUnder(curve: ScoreCurve, { operator, threshold }: ThresholdOperation): DecisionCounts {
  const { scores } = curve;
  let [low, high] = [0, scores.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const score = scores[middle] as number;
    const isHigh = operator === '>' ? score > threshold : score >= threshold;
    if (isHigh) low = middle + 1;
    else high = middle;
  }
  return countsAt(curve, low, operator);
}
