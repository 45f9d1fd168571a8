import { expect } from 'chai';

import { metricDefinition } from '../../src/metrics/metric-definitions.ts';
import { type Comparator, findThresholdProblem, metricRange } from '../../src/metrics/threshold-range.ts';

/** Metric, threshold, comparator, and the expected behaviour: the gate can pass or fail, or always or never passes. */
type Case = readonly [
  metric: string,
  threshold: number,
  comparator: Comparator,
  outcome: 'decides' | 'always' | 'never',
];

const CASES: readonly Case[] = [
  ['demographic_parity_difference', 0.1, '<=', 'decides'],
  ['demographic_parity_difference', 0, '<=', 'decides'],
  // The weakest gate: the metric must be defined.
  ['demographic_parity_difference', 1, '<=', 'decides'],
  ['demographic_parity_difference', 5, '<=', 'always'],
  ['demographic_parity_difference', 1.5, '<', 'always'],
  ['demographic_parity_difference', -0.1, '<=', 'never'],
  ['demographic_parity_difference', 0, '<', 'never'],
  ['demographic_parity_difference', 0, '>=', 'always'],
  ['demographic_parity_difference', -1, '>', 'always'],
  ['demographic_parity_difference', 5, '>=', 'never'],
  ['demographic_parity_difference', 1, '>', 'never'],
  ['demographic_parity_difference', 1, '>=', 'decides'],
  ['demographic_parity_ratio', 0.8, '>=', 'decides'],
  ['demographic_parity_ratio', 1, '>=', 'decides'],
  ['demographic_parity_ratio', 80, '>=', 'never'],
  ['demographic_parity_ratio', 0, '>=', 'always'],
  ['demographic_parity_ratio', 0, '>', 'decides'],
  ['roc_auc_difference', 5, '<=', 'always'],
  ['mae_parity_difference', 5, '<=', 'decides'],
  ['mae_parity_difference', -5, '<=', 'never'],
  ['mae_parity_ratio', 1.01, '>=', 'never'],
  ['log_loss_difference', 5, '<=', 'decides'],
  ['count_difference', 500, '<=', 'decides'],
];

describe('a threshold that always or never passes', () => {
  for (const [metric, threshold, comparator, outcome] of CASES) {
    it(`${metric} ${comparator} ${threshold}: ${outcome}`, () => {
      const range = metricRange(metricDefinition(metric), { isSize: true });
      const problem = findThresholdProblem({ metric, threshold, comparator }, range);
      expect(problem?.message.includes(` ${outcome} passes`) ?? outcome === 'decides').to.equal(true);
    });
  }

  it('suggests the value for a percentage', () => {
    const range = metricRange(metricDefinition('demographic_parity_difference'), { isSize: true });
    const gate = { metric: 'demographic_parity_difference', threshold: 5, comparator: '<=' } as const;
    expect(findThresholdProblem(gate, range)).to.deep.equal({
      message: 'demographic_parity_difference is at most 1, so that 5 always passes',
      suggestion: 'For 5 percent write 0.05.',
    });
  });

  it("uses the range of AIF360's signed differences and ratios if a comparator is given", () => {
    const signed = { isSize: false, compat: 'aif360' } as const;
    expect(metricRange(metricDefinition('demographic_parity_difference'), signed)).to.deep.equal({ low: -1, high: 1 });
    expect(metricRange(metricDefinition('demographic_parity_ratio'), signed)).to.deep.equal({ low: 0, high: Infinity });
    const bySize = { isSize: true, compat: 'aif360' } as const;
    expect(metricRange(metricDefinition('demographic_parity_ratio'), bySize)).to.deep.equal({ low: 0, high: 1 });
  });
});
