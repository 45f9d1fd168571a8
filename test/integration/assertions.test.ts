import { AssertionError } from 'node:assert';

import { expect } from 'chai';

import { FairnessAssertionError, FairnessToolkitError, ValueError } from '../../src/exceptions/index.ts';
import { assertFairness, judge, type JudgedMetric } from '../../src/integration/index.ts';

const result = (fields: Partial<JudgedMetric>): JudgedMetric => ({
  metric: 'demographic_parity_difference',
  value: 0.1,
  ci: null,
  undefinedReason: null,
  ...fields,
});

describe('the gate', () => {
  const cases: [
    title: string,
    metric: string,
    value: number,
    threshold: number,
    comparator: string | undefined,
    passed: boolean,
  ][] = [
    ['a difference below the threshold', 'demographic_parity_difference', 0.05, 0.1, undefined, true],
    ['a difference equal to the threshold', 'demographic_parity_difference', 0.1, 0.1, undefined, true],
    ['a difference above it', 'demographic_parity_difference', 0.11, 0.1, undefined, false],
    ['a signed difference, by its absolute value', 'mean_prediction_difference', -0.2, 0.1, undefined, false],
    ['a ratio above the threshold', 'demographic_parity_ratio', 0.9, 0.8, undefined, true],
    ['a ratio below it', 'demographic_parity_ratio', 0.7, 0.8, undefined, false],
    ['a value equal to a strict threshold', 'demographic_parity_difference', 0.1, 0.1, '<', false],
    ['a reversed comparator', 'demographic_parity_difference', 0.2, 0.1, '>', true],
    ['>= on the threshold', 'demographic_parity_difference', 0.1, 0.1, '>=', true],
  ];
  for (const [title, metric, value, threshold, comparator, passed] of cases) {
    it(`${title}: ${passed ? 'pass' : 'fail'}`, () => {
      const verdict = judge(result({ metric, value }), threshold, comparator);
      expect(verdict.passed).to.equal(passed);
      expect(verdict.message).to.match(passed ? /^PASS/ : /^FAIL/);
    });
  }

  it('gives no verdict without a threshold', () => {
    expect(judge(result({}), undefined).passed).to.equal(null);
  });

  it('fails an undefined metric with its reason, for every comparator', () => {
    const undefinedResult = result({ value: NaN, undefinedReason: 'only one group' });
    for (const comparator of [undefined, '<=', '<', '>=', '>']) {
      const verdict = judge(undefinedResult, 0.1, comparator);
      expect(verdict.passed).to.equal(false);
      expect(verdict.message).to.include('only one group');
    }
  });

  it('says when the interval straddles the threshold', () => {
    expect(judge(result({ ci: [0.02, 0.2] }), 0.15).message).to.include('straddles');
    expect(judge(result({ ci: [0.02, 0.12] }), 0.15).straddles).to.equal(false);
  });

  it('rejects a threshold that is not a number', () => {
    expect(() => judge(result({}), NaN)).to.throw(ValueError, 'threshold parameter');
  });
});

describe('assertFairness', () => {
  it('does not throw if the comparison holds', () => {
    assertFairness(0.05, 0.1);
    assertFairness(result({ value: 0.9 }), 0.8, { comparator: '>=' });
  });

  it('requires a ratio of at least its threshold, and judges a signed difference by its absolute value', () => {
    assertFairness(result({ metric: 'demographic_parity_ratio', value: 0.9 }), 0.8);
    for (const [metric, value] of [
      ['demographic_parity_ratio', 0.5],
      ['mean_prediction_difference', -0.9],
    ] as const) {
      expect(() => {
        assertFairness(result({ metric, value }), 0.8);
      }).to.throw(FairnessAssertionError);
    }
  });

  it('throws an error that test runners treat as a failed assertion', () => {
    let caught: unknown;
    try {
      assertFairness(result({ value: 0.3 }), 0.1);
    } catch (error) {
      caught = error;
    }
    expect(caught).to.be.instanceOf(FairnessAssertionError).and.instanceOf(AssertionError);
    expect(FairnessToolkitError.isInstance(caught)).to.equal(true);
    expect(caught).to.include({ actual: 0.3, expected: 0.1, operator: '<=' });
  });

  it('rejects any comparator except the four', () => {
    for (const comparator of ['==', '=<', '', 'lt']) {
      expect(() => {
        assertFairness(0.1, 0.2, { comparator });
      }).to.throw(ValueError, 'must be one of <=, <, >=, >');
    }
  });

  it('passes an undefined metric only if that is allowed', () => {
    expect(() => {
      assertFairness(NaN, 1);
    }).to.throw(FairnessAssertionError);
    assertFairness(NaN, 1, { allowUndefined: true });
  });
});

describe('the gate on values with a sign, and on ratios above 1', () => {
  const result = (metric: string, value: number, ci: readonly [number, number] | null = null) => ({
    metric,
    value,
    ci,
    undefinedReason: null,
  });

  it('treats a ratio of 4 like 1/4, unless a comparator is given', () => {
    expect(judge(result('demographic_parity_ratio', 4), 0.8).passed).to.equal(false);
    expect(judge(result('demographic_parity_ratio', 1.2), 0.8).passed).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 4), 0.8, '>=').passed).to.equal(true);
  });

  it('compares the absolute values of a signed interval with the threshold', () => {
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.1]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.25]), 0.2).straddles).to.equal(false);
    // The absolute value of -0.1 to 0.3 ranges from 0 to 0.3.
    expect(judge(result('demographic_parity_difference', 0.1, [-0.1, 0.3]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.1, 2]), 0.8).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.4, 2]), 0.8).straddles).to.equal(false);
  });

  it('distinguishes an undefined metric from a failed one, and neither passes', () => {
    const undefinedResult = { metric: 'm_difference', value: NaN, ci: null, undefinedReason: 'one group' };
    const of = (one: Parameters<typeof judge>[0], threshold?: number) => {
      const { passed, status } = judge(one, threshold);
      return [passed, status];
    };
    expect(of(undefinedResult, 0.1)).to.deep.equal([false, 'undefined']);
    expect(of(result('m_difference', 0.3), 0.1)).to.deep.equal([false, 'fail']);
    expect(of(result('m_difference', 0.05), 0.1)).to.deep.equal([true, 'pass']);
    expect(of(undefinedResult)).to.deep.equal([null, null]);
  });
});
