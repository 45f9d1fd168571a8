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
    ['a difference on the threshold', 'demographic_parity_difference', 0.1, 0.1, undefined, true],
    ['a difference above it', 'demographic_parity_difference', 0.11, 0.1, undefined, false],
    ['a signed difference, by its size', 'mean_prediction_difference', -0.2, 0.1, undefined, false],
    ['a ratio above the threshold', 'demographic_parity_ratio', 0.9, 0.8, undefined, true],
    ['a ratio below it', 'demographic_parity_ratio', 0.7, 0.8, undefined, false],
    ['a value on a strict threshold', 'demographic_parity_difference', 0.1, 0.1, '<', false],
    ['a comparator the other way round', 'demographic_parity_difference', 0.2, 0.1, '>', true],
    ['>= on the threshold', 'demographic_parity_difference', 0.1, 0.1, '>=', true],
  ];
  for (const [title, metric, value, threshold, comparator, passed] of cases) {
    it(`${title}: ${passed ? 'pass' : 'fail'}`, () => {
      const verdict = judge(result({ metric, value }), threshold, comparator);
      expect(verdict.passed).to.equal(passed);
      expect(verdict.message).to.match(passed ? /^PASS/ : /^FAIL/);
    });
  }

  it('no threshold, no verdict', () => {
    expect(judge(result({}), undefined).passed).to.equal(null);
  });

  it('an undefined metric fails with its reason, whatever the comparator', () => {
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

  it('refuses a threshold that is no number', () => {
    expect(() => judge(result({}), NaN)).to.throw(ValueError, 'threshold parameter');
  });
});

describe('assertFairness', () => {
  it('is silent where the comparison holds', () => {
    assertFairness(0.05, 0.1);
    assertFairness(result({ value: 0.9 }), 0.8, { comparator: '>=' });
  });

  it('holds a ratio to at least its threshold, and a signed difference by its size', () => {
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

  it('throws an error that test runners know as a failed assertion', () => {
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

  it('refuses any comparator but the four', () => {
    for (const comparator of ['==', '=<', '', 'lt']) {
      expect(() => {
        assertFairness(0.1, 0.2, { comparator });
      }).to.throw(ValueError, 'must be one of <=, <, >=, >');
    }
  });

  it('never passes an undefined metric unless told to', () => {
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

  it('a ratio of 4 is as uneven as one of 1/4, unless a comparator says what is meant', () => {
    expect(judge(result('demographic_parity_ratio', 4), 0.8).passed).to.equal(false);
    expect(judge(result('demographic_parity_ratio', 1.2), 0.8).passed).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 4), 0.8, '>=').passed).to.equal(true);
  });

  it('a signed interval straddles by its size', () => {
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.1]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.25]), 0.2).straddles).to.equal(false);
    // From -0.1 to 0.3 the size goes from 0 to 0.3.
    expect(judge(result('demographic_parity_difference', 0.1, [-0.1, 0.3]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.1, 2]), 0.8).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.4, 2]), 0.8).straddles).to.equal(false);
  });

  it('tells an undefined metric from one on the wrong side, and neither passes', () => {
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
