import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { metricDefinition } from '../../src/metrics/metric-definitions.ts';
import {
  assertThreshold,
  type Comparator,
  findThresholdProblem,
  metricRange,
  rangeOfName,
} from '../../src/metrics/threshold-range.ts';

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
  ['mae_parity_ratio', 0.8, '>=', 'decides'],
  // The means of two groups may have different signs.
  ['mean_prediction_ratio', -0.5, '>=', 'decides'],
];

/** Metric, threshold, comparator, and the suggestion for a gate that always or never passes. */
const SUGGESTIONS: readonly (readonly [
  metric: string,
  threshold: number,
  comparator: Comparator,
  suggestion: string,
])[] = [
  ['demographic_parity_difference', 100, '<=', 'For 100 percent write 1.'],
  ['demographic_parity_difference', 7, '<=', 'For 7 percent write 0.07.'],
  ['demographic_parity_ratio', 80, '>=', 'For 80 percent write 0.8.'],
  ['demographic_parity_ratio', 10, '>=', 'For 10 percent write 0.1.'],
  // Slightly above 1 is not a percentage of a ratio, and nothing is a percentage above 100.
  ['demographic_parity_ratio', 1.25, '>=', 'Use a number from 0 to 1, such as 0.8.'],
  ['demographic_parity_difference', 101, '<=', 'Use a number from 0 to 1, such as 0.1.'],
  ['demographic_parity_difference', 1, '>', 'Use a number from 0 to 1, such as 0.8.'],
  ['demographic_parity_difference', 0, '<', 'Use a number from 0 to 1, such as 0.1.'],
  ['mae_parity_difference', -5, '<=', 'Use a number above 0.'],
  ['mean_prediction_ratio', 1.5, '>=', 'Use a number from 0 to 1, such as 0.8.'],
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

  for (const [metric, threshold, comparator, suggestion] of SUGGESTIONS) {
    it(`${metric} ${comparator} ${threshold}: ${suggestion}`, () => {
      const range = metricRange(metricDefinition(metric), { isSize: true });
      expect(findThresholdProblem({ metric, threshold, comparator }, range)?.suggestion).to.equal(suggestion);
    });
  }

  it('suggests a number of the range for a mean of scores from 1 to 10', () => {
    const gate = { metric: 'score_mean', threshold: 0.3, comparator: '<=' } as const;
    expect(findThresholdProblem(gate, { low: 1, high: 10 })?.suggestion).to.equal(
      'Use a number from 1 to 10, such as 5.5.',
    );
  });

  it('is rejected, and the error names the parameter, the metric and the bound', () => {
    const gate = { metric: 'demographic_parity_difference', threshold: -0.1, comparator: '<=' } as const;
    const range = rangeOfName(gate.metric, { isSize: true });
    expect(() => {
      assertThreshold(gate, range);
    })
      .to.throw(ValueError, 'threshold: demographic_parity_difference is at least 0, so that -0.1 never passes.')
      .with.property('context')
      .that.deep.equals({ parameter: 'threshold', metric: gate.metric, value: -0.1, comparator: '<=' });
    assertThreshold({ ...gate, threshold: 0.1 }, range);
  });

  it('does not exist for a metric that is not of groups, whose range is not known', () => {
    expect(rangeOfName('words', { isSize: true })).to.deep.equal({ low: -Infinity, high: Infinity });
    expect(rangeOfName('log_loss_difference', { isSize: true })).to.deep.equal({ low: 0, high: Infinity });
  });

  it('depends on a sign only with the conventions of AIF360', () => {
    const definition = metricDefinition('demographic_parity_difference');
    expect(metricRange(definition, { isSize: false })).to.deep.equal({ low: 0, high: 1 });
  });

  it("uses the range of AIF360's signed differences and ratios if a comparator is given", () => {
    const signed = { isSize: false, compat: 'aif360' } as const;
    expect(metricRange(metricDefinition('demographic_parity_difference'), signed)).to.deep.equal({ low: -1, high: 1 });
    expect(metricRange(metricDefinition('demographic_parity_ratio'), signed)).to.deep.equal({ low: 0, high: Infinity });
    const bySize = { isSize: true, compat: 'aif360' } as const;
    expect(metricRange(metricDefinition('demographic_parity_ratio'), bySize)).to.deep.equal({ low: 0, high: 1 });
  });
});
