import { AssertionError } from 'node:assert';

import { expect } from 'chai';

import { FairnessAssertionError, FairnessToolkitError, ValueError } from '../../src/exceptions/index.ts';
import {
  demographicParityDifference,
  equalizedOddsDifference,
  equalOpportunityDifference,
} from '../../src/metrics/index.ts';
import { joinVerdicts } from '../../src/integration/assertions.ts';
import { assertFairness, judge, type JudgedMetric, type Verdict } from '../../src/integration/index.ts';
import { useLoggedWarnings } from '../helpers/logged-warnings.ts';

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

  // Below, at and above a threshold of 0.5.
  const comparisons: Record<string, readonly [boolean, boolean, boolean]> = {
    '<': [true, false, false],
    '<=': [true, true, false],
    '>': [false, false, true],
    '>=': [false, true, true],
  };
  for (const [comparator, expected] of Object.entries(comparisons)) {
    it(`compares with ${comparator}, and gives the complete verdict`, () => {
      for (const [index, value] of [0.25, 0.5, 0.75].entries()) {
        const { message: _, ...verdict } = judge(result({ value }), 0.5, comparator);
        const passed = expected[index] === true;
        const status = passed ? 'pass' : 'fail';
        expect(verdict).to.deep.equal({ threshold: 0.5, comparator, passed, status, straddles: false, unevenlyMissing: false }); // prettier-ignore
      }
    });
  }

  it('gives no verdict without a threshold', () => {
    expect(judge(result({}), undefined)).to.deep.equal({
      passed: null,
      status: null,
      threshold: null,
      comparator: null,
      straddles: false,
      unevenlyMissing: false,
      message: 'No threshold, no verdict.',
    });
  });

  it('fails a result with a reason even if it has a value, and a value that is not a number without a reason', () => {
    const withReason = judge(result({ value: 0.05, undefinedReason: 'only one group' }), 0.1);
    expect([withReason.passed, withReason.status, withReason.straddles]).to.deep.equal([false, 'undefined', false]);
    const withoutReason = judge(result({ value: NaN }), 0.1);
    expect([withoutReason.passed, withoutReason.status]).to.deep.equal([false, 'undefined']);
    expect(withoutReason.message).to.include('not a number');
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
    expect(judge(result({ value: 0.2, ci: [0.18, 0.3] }), 0.15).straddles).to.equal(false);
  });

  it('says so if an end of the interval is the threshold', () => {
    expect(judge(result({ value: 0.2, ci: [0.15, 0.3] }), 0.15).straddles).to.equal(true);
    expect(judge(result({ ci: [0.02, 0.15] }), 0.15).straddles).to.equal(true);
  });

  it('rejects a threshold that is not a number', () => {
    for (const threshold of [NaN, Infinity]) {
      expect(() => judge(result({}), threshold))
        .to.throw(ValueError, 'threshold parameter')
        .with.property('context')
        .that.deep.equals({ parameter: 'threshold', value: threshold });
    }
  });

  it('compares the size of a number, as of a result, unless there is a comparator', () => {
    expect(() => {
      assertFairness(-0.5, 0.1);
    }).to.throw(FairnessAssertionError);
    expect(() => {
      assertFairness(-0.05, 0.1);
    }).to.not.throw();
    expect(() => {
      assertFairness(-0.5, 0.1, { comparator: '<=' });
    }).to.not.throw();
  });

  it('warns of an upper limit below 0, which large gaps in one direction pass', () => {
    const gap = result({ metric: 'score_gap', value: -1.6 });
    expect(judge(gap, -0.5, '<=').message).to.match(/^PASS: .* Warning: this gate passes if the groups differ more in one direction/); // prettier-ignore
    expect(judge(gap, 0.5, '<=').message).not.to.include('Warning');
  });

  it('gives a limit the same verdict with and without its usual comparator, for signed values too', () => {
    const passed = (metric: string, value: number, threshold: number, comparator?: string): unknown =>
      judge(result({ metric, value, compat: 'aif360' }), threshold, comparator).passed;
    for (const value of [-0.3, -0.1, 0.1, 0.3]) {
      const expected = Math.abs(value) <= 0.2;
      expect(passed('demographic_parity_difference', value, 0.2)).to.equal(expected);
      expect(passed('demographic_parity_difference', value, 0.2, '<=')).to.equal(expected);
      expect(passed('demographic_parity_difference', value, 0.2, '<')).to.equal(expected);
    }
    for (const [value, expected] of [
      [0.7, false],
      [0.9, true],
      [1.1, true],
      [1.4, false],
    ] as const) {
      // prettier-ignore
      expect(passed('demographic_parity_ratio', value, 0.8)).to.equal(expected);
      expect(passed('demographic_parity_ratio', value, 0.8, '>=')).to.equal(expected);
      expect(passed('demographic_parity_ratio', value, 0.8, '>')).to.equal(expected);
    }
    // An upper limit of a ratio, and a lower limit above 1, are compared with the ratio itself.
    expect(passed('demographic_parity_ratio', 1.3, 1.25, '<=')).to.equal(false);
    expect(passed('demographic_parity_ratio', 1.3, 1.25, '>=')).to.equal(true);
    expect(passed('demographic_parity_difference', -0.1, 0, '<')).to.equal(true);
    expect(passed('demographic_parity_difference', -0.1, 0, '<=')).to.equal(false);
  });

  it('warns of a gate that large gaps pass', () => {
    const warns = (metric: string, threshold: number, comparator?: string): boolean =>
      judge(result({ metric, value: 0.5 }), threshold, comparator).message.endsWith(
        ' Warning: this gate passes if the groups differ more, not if they differ less.',
      );
    expect(warns('demographic_parity_difference', 0.05, '>=')).to.equal(true);
    expect(warns('demographic_parity_difference', 0.05, '>')).to.equal(true);
    expect(warns('demographic_parity_ratio', 0.9, '<=')).to.equal(true);
    expect(warns('demographic_parity_ratio', 1, '<=')).to.equal(true);
    expect(warns('sentiment_gap', 0.1, '>=')).to.equal(true);
    expect(warns('demographic_parity_difference', 0.6, '<=')).to.equal(false);
    expect(warns('demographic_parity_ratio', 0.4, '>=')).to.equal(false);
    expect(warns('sentiment_gap', -0.1, '>=')).to.equal(false);
    expect(warns('refusal_rate', 0.1, '>=')).to.equal(false);
    expect(warns('demographic_parity_difference', 0.6)).to.equal(false);
  });

  it('warns of a threshold that very different groups pass, such as 0.8 for a difference, and 0.1 for a ratio', () => {
    const warning = (metric: string, threshold: number, comparator?: string): string | undefined =>
      / Warning: very different groups pass this gate, such as values of (.*)\.$/.exec(
        judge(result({ metric, value: 0.5 }), threshold, comparator).message,
      )?.[1];
    expect(warning('demographic_parity_difference', 0.8)).to.equal('0.1 and 0.9');
    expect(warning('equalized_odds_difference', 0.5, '<=')).to.equal('0.25 and 0.75');
    expect(warning('demographic_parity_ratio', 0.1)).to.equal('0.05 and 0.5');
    expect(warning('demographic_parity_ratio', 0.49, '>=')).to.equal('0.245 and 0.5');
    expect(warning('demographic_parity_difference', 0.49)).to.equal(undefined);
    expect(warning('demographic_parity_ratio', 0.5)).to.equal(undefined);
    expect(warning('demographic_parity_difference', 0.8, '>=')).to.equal(undefined);
    // Numbers and distances of answers have a scale of their own.
    expect(warning('mae_parity_difference', 0.8)).to.equal(undefined);
    expect(warning('score_gap', 0.8)).to.equal(undefined);
  });

  it('compares the signed value with other comparators, where the conventions have signed values', () => {
    const signed = { value: -0.3, compat: 'aif360' } as const;
    expect(judge(result(signed), -0.5, '>=').passed).to.equal(true);
    expect(judge(result(signed), -0.2, '>=').passed).to.equal(false);
    expect(judge(result(signed), 0.2).passed).to.equal(false);
    // Without a comparator, the absolute value of no metric is negative.
    expect(() => judge(result(signed), -0.5)).to.throw(ValueError, 'is at least 0, so that -0.5 never passes');
    expect(() => judge(result({ value: 0.3 }), -0.5, '>=')).to.throw(ValueError, 'always passes');
  });

  it('judges by both bounds where only bounds are known', () => {
    const statusOf = (low: number, high: number, comparator?: string): unknown => {
      const bounded = result({ value: NaN, undefinedReason: 'left out', bounds: [low, high] });
      const { passed, status, message } = judge(bounded, 0.1, comparator);
      return [passed, status, message.slice(0, 4)];
    };
    expect(statusOf(0.02, 0.08)).to.deep.equal([true, 'pass', 'PASS']);
    expect(statusOf(0.02, 0.1)).to.deep.equal([true, 'pass', 'PASS']);
    expect(statusOf(0.02, 0.1, '<')).to.deep.equal([false, 'undefined', 'UNDE']);
    expect(statusOf(0.02, 0.12)).to.deep.equal([false, 'undefined', 'UNDE']);
    expect(statusOf(0.11, 0.12)).to.deep.equal([false, 'fail', 'FAIL']);
    expect(statusOf(0.11, 0.12, '>')).to.deep.equal([true, 'pass', 'PASS']);
    const { threshold, comparator, message } = judge(result({ value: NaN, bounds: [0.02, 0.12] }), 0.1);
    expect([threshold, comparator]).to.deep.equal([0.1, '<=']);
    expect(message).to.equal(
      'UNDEFINED: demographic_parity_difference is between 0.0200 and 0.1200, so that it is not certain to be <= 0.1.',
    );
  });

  const missing = { n: 7, byGroup: { a: 7, b: 0 }, pValue: 0.01, worstCase: [0.05, 0.4] } as const;

  it('warns if the shares of missing rows differ, and fails only with strict missing values', () => {
    const warned = judge(result({ missing }), 0.2);
    expect([warned.passed, warned.unevenlyMissing]).to.deep.equal([true, true]);
    expect(warned.message).to.equal(
      'PASS: demographic_parity_difference 0.1000 <= 0.2. Warning: 7 rows with missing values are not equally common in all groups; with these rows the value could be from 0.0500 to 0.4000.',
    );
    const strict = judge(result({ missing }), 0.2, undefined, { strictMissing: true });
    expect([strict.passed, strict.status]).to.deep.equal([false, 'fail']);
    expect(strict.message).to.match(/^FAIL: .* The gate fails because strict missing values are on\.$/);
    // A metric above its threshold fails for that reason.
    const above = judge(result({ missing: { ...missing, worstCase: null }, value: 0.3 }), 0.2, '<=', {
      strictMissing: true,
    });
    expect(above.message).to.equal(
      'FAIL: demographic_parity_difference 0.3000 > 0.2. Warning: 7 rows with missing values are not equally common in all groups.',
    );
  });

  it('names the groups that were not compared, at most three of them', () => {
    const excluded = (labels: readonly string[]) =>
      Object.fromEntries(labels.map((label, index) => [label, { n: index, reason: 'fewer than 30 rows', numerator: null, denominator: null }])); // prettier-ignore
    const { message, passed } = judge(result({ excluded: excluded(['c', 'd']) }), 0.2);
    expect(passed).to.equal(true);
    expect(message).to.equal('PASS: demographic_parity_difference 0.1000 <= 0.2. Not compared: c (0 rows), d (1 row).');
    expect(judge(result({ excluded: excluded(['c', 'd', 'e', 'f', 'g']) }), 0.2).message).to.match(
      / Not compared: c \(0 rows\), d \(1 row\), e \(2 rows\) and 2 more\.$/,
    );
  });

  it('does not warn if the shares of missing rows do not differ significantly, at the level of 0.05', () => {
    const statusOf = (pValue: number | null): unknown =>
      judge(result({ missing: { ...missing, pValue } }), 0.2, '<=', { strictMissing: true }).passed;
    expect([0.049, 0.05, 0.5, null].map(statusOf)).to.deep.equal([false, true, true, true]);
    expect(judge(result({ missing: null }), 0.2).message).to.equal(
      'PASS: demographic_parity_difference 0.1000 <= 0.2.',
    );
  });
});

describe('assertFairness', () => {
  const logged = useLoggedWarnings();

  it('does not throw if the comparison holds', () => {
    assertFairness(0.05, 0.1);
    assertFairness(result({ value: 0.9 }), 0.8, { comparator: '>=' });
  });

  it('logs which groups a passing assertion did not compare', () => {
    const groups = Array.from({ length: 229 }, (_, row) => (row < 200 ? (row % 2 === 0 ? 'a' : 'b') : 'c'));
    const decided = groups.map((group, row) => (group === 'c' ? 0 : Number(row % 4 < 2)));
    const { metric, ...compared } = demographicParityDifference(decided, groups);
    assertFairness(demographicParityDifference(decided.slice(0, 200), groups.slice(0, 200)), 0.05);
    expect(logged()).to.deep.equal([]);
    assertFairness({ metric, ...compared }, 0.05);
    expect(logged()).to.deep.equal(['demographic_parity_difference passes. Not compared: c (29 rows).']);
  });

  it('logs the warnings of a passing result: rows without a group, labels of one decision, weights of decisions', () => {
    const range = (count: number): number[] => Array.from({ length: count }, (_, row) => row);
    // All have a rate of 1/2, but 300 rows without a group are refused.
    const rows = range(800);
    const groups = rows.map((row) => (row < 300 ? null : row % 2 === 0 ? 'a' : 'b'));
    const decided = rows.map((row) => Number(row >= 300 && row % 4 < 2));
    assertFairness(demographicParityDifference(decided, groups), 0.05);
    expect(logged().at(-1)).to.include('300 rows without a group (37.5%) are not compared, and 0.0% of them');
    // The true labels of refused rows are not known.
    const known = range(400).map((row) => (row % 4 < 2 ? Number(row % 8 < 4) : null));
    const yPred = range(400).map((row) => Number(row % 4 < 2));
    const sex = range(400).map((row) => (row % 2 === 0 ? 'a' : 'b'));
    assertFairness(equalizedOddsDifference(known, yPred, sex), 0.05);
    expect(logged().at(-1)).to.include('A true label is known for 100.0% of the rows with a positive decision');
    // 0.75 of a and 0.25 of b are approved; the weight of those is an amount.
    const unequal = range(400).map((row) => Number(row % 2 === 0 ? row % 8 < 6 : row % 8 < 2));
    const sampleWeight = unequal.map((one) => (one === 1 ? 1000 : 1));
    assertFairness(demographicParityDifference(unequal, sex, { sampleWeight }), 0.05);
    expect(logged().at(-1)).to.include('The mean weight of rows with a positive decision is 1,000 times that of rows');
  });

  it('says how a result that was saved as JSON can be compared', () => {
    const saved = JSON.parse(JSON.stringify(demographicParityDifference([1, 0], ['a', 'b'], { minGroupSize: 1 }))) as never; // prettier-ignore
    expect(() => {
      assertFairness(saved, 0.1);
    }).to.throw(ValueError, 'the JSON form of a MetricResult');
  });

  it('says to await a promise, and rejects other values that are no result', () => {
    for (const [given, message] of [
      [Promise.resolve(0.05), /not a MetricResult: await it/],
      [undefined, /metric parameter must be a number or a MetricResult\. Got undefined instead/],
      [{ value: 0.05 }, /metric parameter must be a number or a MetricResult/],
    ] as const) {
      expect(() => {
        assertFairness(given as unknown as number, 0.1);
      }).to.throw(ValueError, message);
    }
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
    expect(caught).to.have.deep.property('context', {
      metric: 'demographic_parity_difference',
      value: 0.3,
      threshold: 0.1,
      comparator: '<=',
    });
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
    const undefinedResult = result({ value: 0, undefinedReason: 'one group' });
    assertFairness(undefinedResult, 0.1, { allowUndefined: true });
    expect(() => {
      assertFairness(undefinedResult, 0.1, { allowUndefined: false });
    }).to.throw(FairnessAssertionError, 'one group');
  });

  it('says how an undefined metric can get a value', () => {
    const suggestionOf = (metric: JudgedMetric | number): string | undefined => {
      try {
        assertFairness(metric, 0.1);
      } catch (error) {
        return (error as FairnessAssertionError).suggestion;
      }
      return undefined;
    };
    const small = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b']);
    expect(suggestionOf(small)).to.match(/^Use more rows, or set a smaller minGroupSize\. .*allowUndefined/);
    const truths = Array.from({ length: 80 }, () => 0);
    const groups = truths.map((_, row) => 'ab'[row % 2] as string);
    const noPositives = equalOpportunityDifference(truths, truths, groups);
    expect(suggestionOf(noPositives)).to.match(/^Use rows in which every group has this rate, or choose a metric/);
    expect(suggestionOf(NaN)).to.match(/^Check how the number was computed/);
    expect(suggestionOf(0.3)).to.match(/^Fix the model or the data/);
  });

  it('fails with strict missing values if the shares of missing rows differ', () => {
    const missing = { n: 7, byGroup: { a: 7, b: 0 }, pValue: 0.01, worstCase: null };
    assertFairness(result({ missing }), 0.2);
    expect(() => {
      assertFairness(result({ missing }), 0.2, { strictMissing: true });
    }).to.throw(FairnessAssertionError, 'strict missing values');
  });

  it('fails a defined metric above its threshold even if undefined metrics pass', () => {
    for (const metric of [0.3, result({ value: 0.3 })]) {
      expect(() => {
        assertFairness(metric, 0.1, { allowUndefined: true });
      }).to.throw(FairnessAssertionError);
    }
  });
});

describe('the verdict of several gates', () => {
  const verdict = (value: number, ci: readonly [number, number] | null = null): Verdict =>
    judge(result({ value, ci }), 0.1);
  const pass = (): Verdict => verdict(0.05);
  const fail = (): Verdict => verdict(0.2);
  const none = (): Verdict => verdict(NaN);

  it('is that of the only gate, with its threshold', () => {
    const only = fail();
    expect(joinVerdicts([only])).to.equal(only);
  });

  it('passes only if all gates pass; a failed gate comes before an undefined one', () => {
    const statusOf = (...verdicts: Verdict[]): unknown => {
      const { passed, status } = joinVerdicts(verdicts);
      return [passed, status];
    };
    expect(statusOf(pass(), pass())).to.deep.equal([true, 'pass']);
    expect(statusOf(pass(), fail())).to.deep.equal([false, 'fail']);
    expect(statusOf(pass(), none())).to.deep.equal([false, 'undefined']);
    expect(statusOf(none(), fail(), pass())).to.deep.equal([false, 'fail']);
  });

  it('has the messages of all gates, no threshold, and the cautions of any gate', () => {
    const joined = joinVerdicts([pass(), fail()]);
    expect([joined.threshold, joined.comparator]).to.deep.equal([null, null]);
    expect(joined.message).to.equal(`${pass().message} ${fail().message}`);
    expect([joined.straddles, joined.unevenlyMissing]).to.deep.equal([false, false]);
    expect(joinVerdicts([pass(), verdict(0.05, [0, 0.2])]).straddles).to.equal(true);
    const missing = { n: 7, byGroup: { a: 7, b: 0 }, pValue: 0.01, worstCase: null };
    expect(joinVerdicts([pass(), judge(result({ missing }), 0.2)]).unevenlyMissing).to.equal(true);
  });
});

describe('the gate on an excess, and on the difference of two models', () => {
  const passes = (metric: string, value: number, threshold: number, isDifference = false, comparator?: string) =>
    judge({ metric, value, ci: null, undefinedReason: null, isDifference }, threshold, comparator).passed;

  it('compares an excess with its sign: less distance between groups than noise is no difference', () => {
    expect(passes('jaccard_excess', -0.9, 0.1)).to.equal(true);
    expect(passes('jaccard_excess', 0.2, 0.1)).to.equal(false);
    expect(passes('jaccard_excess', -0.2, -0.1)).to.equal(true);
    // The name ends with another word, so this is a difference.
    expect(passes('excess_gap', -0.9, 0.1)).to.equal(false);
    expect(passes('_excess_gap', -0.9, 0.1)).to.equal(false);
  });

  it('compares the difference of a metric by its absolute value, unless higher values are better', () => {
    expect(passes('refusal_gap', -0.3, 0.1, true)).to.equal(false);
    expect(passes('refusal_gap', -0.05, 0.1, true)).to.equal(true);
    // An accuracy that rises by 0.3 is fine, one that falls by 0.3 is not.
    expect(passes('winobias_accuracy_pro', 0.3, -0.1, true)).to.equal(true);
    expect(passes('winobias_accuracy_pro', -0.3, -0.1, true)).to.equal(false);
    expect(passes('jaccard_excess', -0.3, 0.1, true)).to.equal(true);
  });

  it('rejects a threshold outside the range of a difference: twice the range of the metric', () => {
    const never = (...args: Parameters<typeof passes>) => {
      expect(() => passes(...args)).to.throw(ValueError, /(?:always|never) passes/);
    };
    // A refusal gap lies in [-1, 1], so that a difference of two lies in [-2, 2], and its size in [0, 2].
    expect(passes('refusal_gap', 0.5, 1.5, true)).to.equal(true);
    never('refusal_gap', 0.5, 2.5, true);
    never('refusal_gap', 0.5, -0.1, true);
    expect(passes('refusal_gap', -1, -0.5, true, '<=')).to.equal(true);
    never('refusal_gap', 0.5, -2.5, true, '<=');
    // An accuracy lies in [0, 1], and its difference in [-1, 1].
    never('winobias_accuracy_pro', 0.5, 1.5, true);
    never('winobias_accuracy_pro', 0.5, -1.5, true);
    // The difference of a measure without an upper bound has no bounds, but its size is not negative.
    expect(passes('words', 900, 1000, true)).to.equal(true);
    never('words', 900, -1, true);
    expect(passes('words', -900, -800, true, '<=')).to.equal(true);
  });

  it('rejects a threshold outside the range of the size, unless a comparator is given', () => {
    expect(() => passes('refusal_gap', 0.5, -0.5)).to.throw(ValueError, 'refusal_gap is at least 0');
    expect(() => passes('sentiment_gap', 0.5, 2.5)).to.throw(ValueError, 'sentiment_gap is at most 2');
    expect(passes('sentiment_gap', -1.5, 1.8)).to.equal(true);
    // A rate lies in [0, 1].
    expect([passes('refusal_rate', 0.4, 0.5), passes('refusal_rate', 0.6, 0.5)]).to.deep.equal([true, false]);
    expect(() => passes('refusal_rate', 0.5, 1.5)).to.throw(ValueError, 'refusal_rate is at most 1');
    expect(passes('refusal_gap', -0.7, -0.5, false, '<=')).to.equal(true);
    expect(passes('jaccard_excess', -0.7, -0.5)).to.equal(true);
    expect(() => passes('jaccard_excess', 0, -1.5)).to.throw(ValueError, 'jaccard_excess is at least -1');
  });
});

describe('the gate on values with a sign, and on ratios above 1', () => {
  const result = (metric: string, value: number, ci: readonly [number, number] | null = null) => ({
    metric,
    value,
    ci,
    undefinedReason: null,
  });

  it('treats a ratio of 4 like 1/4, also with its usual comparator', () => {
    expect(judge(result('demographic_parity_ratio', 4), 0.8).passed).to.equal(false);
    expect(judge(result('demographic_parity_ratio', 1.2), 0.8).passed).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 4), 0.8, '>=').passed).to.equal(false);
  });

  it('compares the absolute values of a signed interval with the threshold', () => {
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.1]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_difference', -0.3, [-0.48, -0.25]), 0.2).straddles).to.equal(false);
    // The absolute value of -0.1 to 0.3 ranges from 0 to 0.3.
    expect(judge(result('demographic_parity_difference', 0.1, [-0.1, 0.3]), 0.2).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.1, 2]), 0.8).straddles).to.equal(true);
    expect(judge(result('demographic_parity_ratio', 1.5, [1.4, 2]), 0.8).straddles).to.equal(false);
    // The size of 0.7 to 1.1 ranges from 0.7 to 1, and that of -0.05 to 0.02 from 0 to 0.05.
    expect(judge(result('demographic_parity_ratio', 0.9, [0.7, 1.1]), 0.95).straddles).to.equal(true);
    expect(judge(result('demographic_parity_difference', 0.01, [-0.05, 0.02]), 0.01).straddles).to.equal(true);
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
