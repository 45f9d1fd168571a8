import { expect } from 'chai';

import { DataValidationError, MetricComputationError, ValueError } from '../../src/exceptions/index.ts';
import {
  computeMetric,
  demographicParityDifference,
  equalizedOddsDifference,
  FairnessAnalyzer,
  maeParityDifference,
  metricFrame,
} from '../../src/metrics/index.ts';

const repeat = <T>(value: T, times: number): T[] => Array<T>(times).fill(value);

describe('excluded groups', () => {
  it('lists a group below the minimum size with its name, size and reason', () => {
    const yPred = [...repeat(1, 30), ...repeat(0, 30), ...repeat(1, 29)];
    const groups = [...repeat('a', 30), ...repeat('b', 30), ...repeat('c', 29)];
    const result = demographicParityDifference(yPred, groups);
    expect(result.value).to.equal(1);
    expect(result.excluded).to.deep.equal({
      c: { n: 29, reason: 'fewer than 30 rows', numerator: 29, denominator: 29 },
    });
    expect(result.nPerGroup).to.deep.equal({ a: 30, b: 30 });
  });

  it('is undefined, not 0, if one group remains', () => {
    const result = demographicParityDifference([1, 0, 1], ['a', 'a', 'a'], { minGroupSize: 1 });
    expect(result.value).to.be.NaN;
    expect(result.undefinedReason).to.equal(
      'only one group with at least 1 rows; two are needed, or a smaller minimum group size',
    );
    expect(result.ci).to.equal(null);
    expect(result.toJSON().value).to.equal(null);
  });

  it('warns if all decisions are the same, so that no gap can show', () => {
    const groups = [...repeat('a', 40), ...repeat('b', 40)];
    const warned = (yPred: readonly number[]): string =>
      demographicParityDifference(yPred, groups)
        .warnings.filter((text) => text.startsWith('all '))
        .join();
    const all = (which: string): string =>
      `all 80 decisions are ${which}, so that no group can have another rate of decisions; check the column, the positive label, or the threshold of the scores`;
    expect(warned(repeat(1, 80))).to.equal(all('positive'));
    expect(warned(repeat(0, 80))).to.equal(all('negative'));
    expect(warned([...repeat(1, 79), 0])).to.equal('');
    expect(warned([...repeat(0, 79), 1])).to.equal('');
  });

  it('warns if all rows of one decision have the weight 0, such as an amount that was granted', () => {
    const yPred = [...repeat(1, 12), ...repeat(0, 28), ...repeat(1, 24), ...repeat(0, 16)];
    const groups = [...repeat('a', 40), ...repeat('b', 40)];
    const warned = (sampleWeight: readonly number[]): string =>
      demographicParityDifference(yPred, groups, { sampleWeight })
        .warnings.filter((text) => text.startsWith('all '))
        .join();
    const all = (which: string): string =>
      `all rows with a ${which} decision have the weight 0, so that no group can have another rate of decisions; check the column of weights`;
    expect(warned(yPred.map((one) => 500 * one))).to.equal(all('negative'));
    expect(warned(yPred.map((one) => 1 - one))).to.equal(all('positive'));
    expect(warned(yPred.map((one, row) => (row === 30 ? 0.1 : one)))).to.equal('');
  });

  it('a group without positives has no true positive rate instead of a rate of 0', () => {
    const yTrue = [1, 1, 0, 0, 0, 0, 1, 0];
    const yPred = [1, 0, 0, 1, 0, 1, 1, 0];
    const groups = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c'];
    const result = equalizedOddsDifference(yTrue, yPred, groups, { minGroupSize: 1, withCi: false });
    // TPR: a 1/2, c 1; FPR: a 0, b 2/3, c 0.
    expect(result.value).to.be.closeTo(2 / 3, 1e-12);
    expect(result.perGroup['b']).to.deep.equal({ true_positive_rate: null, false_positive_rate: 2 / 3 });
    expect(result.excluded['b']?.reason).to.equal(
      'no true positive rate: 0 rows with a positive true label, at least 1 needed',
    );
  });

  const bare = { minGroupSize: 1, withCi: false, withEffectSize: false } as const;

  it('warns if the mean weight depends much on the decision, such as an amount that approved people get', () => {
    const yPred = [...repeat(1, 30), ...repeat(0, 70), ...repeat(1, 60), ...repeat(0, 40)];
    const groups = [...repeat('a', 100), ...repeat('b', 100)];
    const warned = (sampleWeight: readonly number[]): string =>
      demographicParityDifference(yPred, groups, { sampleWeight })
        .warnings.filter((text) => text.startsWith('the mean weight'))
        .join();
    expect(warned(yPred.map((one) => (one === 1 ? 40 : 8)))).to.include('positive decision is 5 times that of rows with a negative one'); // prettier-ignore
    expect(warned(yPred.map((one) => (one === 1 ? 1 : 100)))).to.include('negative decision is 100 times that of rows with a positive one'); // prettier-ignore
    expect(warned(yPred.map((one) => (one === 1 ? 4.9 : 1)))).to.equal('');
    // Twenty rows with a decision are too few for a mean.
    const few = yPred.map((_, row) => Number(row < 20));
    const { warnings } = demographicParityDifference(few, groups, { sampleWeight: few.map((one) => 1 + 99 * one) });
    expect(warnings.join()).to.not.include('the mean weight');
  });

  it('warns if many rows are in groups that are too small', () => {
    const groups = (small: number): string[] => [
      ...repeat('a', 150),
      ...repeat('b', 150),
      ...Array.from({ length: small }, (_, row) => `c${String(row % 10)}`),
    ];
    const warned = (small: number): string =>
      demographicParityDifference(groups(small).map((_, row) => row % 2), groups(small)).warnings.join(); // prettier-ignore
    expect(warned(100)).to.include('25.0% of the rows are in groups that are not compared because they have too few rows'); // prettier-ignore
    expect(warned(90)).to.not.include('are in groups');
  });

  it('a group without any true label has no rows, and the reason says so', () => {
    const yTrue = [1, 0, null, null, 1, 0];
    const result = equalizedOddsDifference(yTrue, [1, 0, 1, 0, 0, 0], Array.from('aabbcc'), bare);
    expect(result.excluded).to.deep.equal({
      b: { n: 0, reason: 'no rows with all the values that the metric needs', numerator: 0, denominator: 0 },
    });
    // TPR 1 and 0, FPR 0 and 0.
    expect(result.value).to.equal(1);
  });

  it('a group that lacks two rates has both reasons, and a denominator that is just large enough counts', () => {
    // a: 3 positives and 3 negatives; b and c: 2 of each, or 3 and 2.
    const yTrue = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0];
    const yPred = [1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0];
    const groups = Array.from('aaaaaabbbbcccccc');
    const result = equalizedOddsDifference(yTrue, yPred, groups, { ...bare, minDenominator: 3 });
    expect(result.excluded['b']?.reason).to.equal(
      'no true positive rate: 2 rows with a positive true label, at least 3 needed; no false positive rate: 2 rows with a negative true label, at least 3 needed',
    );
    expect(Object.keys(result.excluded)).to.deep.equal(['b']);
    // TPR 2/3 and 1/3, FPR 1/3 and 0.
    expect(result.value).to.be.closeTo(1 / 3, 1e-12);
  });

  it('says whether no group is large enough, or one', () => {
    const reasonOf = (groups: string): string | null =>
      demographicParityDifference(Array.from(groups, () => 1), Array.from(groups), { ...bare, minGroupSize: 3 }).undefinedReason; // prettier-ignore
    expect(reasonOf('aabb')).to.match(/^no group with at least 3 rows/);
    expect(reasonOf('aaabb')).to.match(/^only one group with at least 3 rows/);
    expect(reasonOf('aaabbb')).to.equal(null);
  });

  it('says whether no group has a rate, or the reference group has none', () => {
    const yPred = [1, 0, 1, 0, 1, 0];
    const tprOf = (yTrue: number[], referenceGroup?: string) =>
      computeMetric(
        'true_positive_rate_difference',
        { yTrue, yPred, sensitive: Array.from('aabbcc') },
        { ...bare, referenceGroup },
      );
    expect(tprOf([0, 0, 0, 0, 0, 0]).undefinedReason).to.equal('no group has a true positive rate; two are needed');
    const lost = tprOf([0, 0, 1, 1, 0, 1], 'a');
    expect([lost.value, lost.undefinedReason]).to.deep.equal([NaN, 'the reference group has no true positive rate']);
    // Without a reference group, b (1/2) and c (0) are compared; with c as reference, they are too.
    expect(tprOf([0, 0, 1, 1, 0, 1]).value).to.equal(0.5);
    expect(tprOf([0, 0, 1, 1, 0, 1], 'c')).to.include({ value: 0.5, undefinedReason: null });
  });

  it('a group of numbers that is too small, or whose weights are all 0, has no fraction', () => {
    const rows = { yTrue: [1, 2, 3, 4, 5, 6, 7], yPred: [1, 3, 3, 6, 5, 6, 9], sensitive: Array.from('aabbccd') };
    const result = computeMetric(
      'mae_parity_difference',
      { ...rows, sampleWeight: [1, 1, 1, 1, 0, 0, 1] },
      { ...bare, minGroupSize: 2 },
    );
    expect(result.excluded).to.deep.equal({
      d: { n: 1, reason: 'fewer than 2 rows', numerator: null, denominator: null },
      c: {
        n: 2,
        reason: 'no mean absolute error: 2 rows, their weights are all 0',
        numerator: null,
        denominator: null,
      },
    });
    // Errors 0 and 1, and 0 and 2: means 1/2 and 1.
    expect(result.value).to.equal(0.5);
  });

  it('the numbers of fairlearn and AIF360 keep groups with a small denominator', () => {
    const rows = { yTrue: [1, 0, 0, 0], yPred: [1, 0, 1, 0], sensitive: Array.from('aabb') };
    for (const compat of ['fairlearn', 'aif360'] as const) {
      const options = { ...bare, compat, ...(compat === 'aif360' ? { referenceGroup: 'a' } : {}) };
      expect(computeMetric('true_positive_rate_difference', rows, options).excluded, compat).to.deep.equal({});
    }
  });

  it('warns of a rate of fewer rows than the limit, and not at the limit', () => {
    const warningsAt = (positives: number): boolean => {
      const yTrue = [...repeat(1, positives), ...repeat(0, 40), ...repeat(1, 40), ...repeat(0, 40)];
      const sensitive = [...repeat('a', positives + 40), ...repeat('b', 80)];
      const rows = { yTrue, yPred: yTrue, sensitive };
      const { warnings } = computeMetric('true_positive_rate_difference', rows, {
        withCi: false,
        withEffectSize: false,
      });
      return warnings.some((warning) => warning.includes(`of a is based on only ${String(positives)} rows`));
    };
    expect([9, 10, 11].map(warningsAt)).to.deep.equal([true, false, false]);
  });

  it('is undefined if only one group has a rate', () => {
    const result = equalizedOddsDifference([1, 0, 0, 0], [1, 0, 0, 1], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
    expect(result.value).to.be.NaN;
    expect(result.undefinedReason).to.equal('only one group has a true positive rate; two are needed');
  });

  it('reports that a group whose weights are all 0 has no rate', () => {
    const result = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], {
      minGroupSize: 1,
      sampleWeight: [0, 0, 1, 1],
    });
    expect(result.value).to.be.NaN;
    expect(result.undefinedReason).to.equal('only one group has a selection rate; two are needed');
    expect(result.excluded['a']?.reason).to.equal('no selection rate: 2 rows, their weights are all 0');
  });

  it('weights that overflow float64 give a reason, not a silent NaN', () => {
    const result = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], {
      minGroupSize: 1,
      sampleWeight: [1e308, 1e308, 1e308, 1e308],
    });
    expect(result.undefinedReason).to.equal('the weights are too large to be added up');
  });

  it('errors that overflow float64 and groups of one row do not give an interval of NaN', () => {
    const huge = maeParityDifference([0, 0, 0, 0], [1e200, 2e200, 1, 2], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
    expect(huge.ci).to.equal(null);
    const single = maeParityDifference([0, 0], [1, 3], ['a', 'b'], { minGroupSize: 1 });
    expect([single.value, single.ci]).to.deep.equal([2, null]);
    expect(single.warnings.join()).to.match(/no interval: a group has one row/);
  });

  it('weights that overflow when squared give a reason only if squares are needed', () => {
    const rows = { yTrue: [0, 0, 0, 0], yPred: [1, 0, 1, 1], sensitive: Array.from('aabb') };
    const of = (metric: string, weight: number) =>
      computeMetric(metric, { ...rows, sampleWeight: [weight, weight, weight, weight] }, { minGroupSize: 1 });
    for (const weight of [1e-170, 1e155]) {
      expect(of('selection_rate_difference', weight).value).to.equal(0.5);
      expect(of('mae_parity_difference', weight).undefinedReason).to.equal(
        'the weights are too large or too small to be squared',
      );
    }
    // The square of the sum overflows before the sum of squares does.
    const yPred = Array.from({ length: 80 }, (_, row) => row % 7);
    const many = { yPred, yTrue: yPred.map(() => 0), sensitive: yPred.map((_, row) => (row < 40 ? 'a' : 'b')) };
    const [unit, huge] = [1, 1e153].map((weight) =>
      computeMetric('mae_parity_difference', { ...many, sampleWeight: yPred.map(() => weight) }),
    );
    expect(huge?.ci?.[1]).to.be.closeTo(unit?.ci?.[1] ?? NaN, 1e-9);
  });

  it('weights whose total overflows float64 do not give an overall value of 0', () => {
    const rows = { yPred: [1, 0, 1, 0, 0, 0], sensitive: Array.from('aabbcc') };
    const sampleWeight = [1, 1, 8e307, 8e307, 8e307, 8e307];
    const options = { minGroupSize: 1, method: 'to_overall', withCi: false } as const;
    const result = computeMetric('demographic_parity_difference', { ...rows, sampleWeight }, options);
    expect(result.undefinedReason).to.match(/all rows together/);
  });

  it('equal true values have no variance, even with rounding', () => {
    const rows = { yTrue: [0.1, 0.1, 0.1, 1, 2, 4], yPred: [0.1, 0.2, 0.3, 1, 2, 3], sensitive: Array.from('aaabbb') };
    const result = computeMetric('r2_difference', rows, { minGroupSize: 1 });
    expect(result.excluded['a']?.reason).to.match(/all with the same true value/);
  });

  it('a ratio to a negative overall value is undefined', () => {
    const rows = { yPred: [1, 1, 2, 2, -100], sensitive: Array.from('aabbc') };
    const result = computeMetric('mean_prediction_ratio', rows, { minGroupSize: 2, method: 'to_overall' });
    expect(result.undefinedReason).to.match(/changes sign/);
  });

  it('weights whose sum equals their sum of squares are not permuted as counts', () => {
    // Eight of 1/2 and one of 2 are six, and so are their squares.
    const sampleWeight = [...repeat(0.5, 8), 2, ...repeat(0.5, 8), 2];
    const yPred = [1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0];
    const rows = { yPred, sampleWeight, sensitive: Array.from('aaaaaaaaabbbbbbbbb') };
    const result = computeMetric('demographic_parity_difference', rows, { minGroupSize: 1, withPValue: true });
    expect(result.pValueMethod).to.equal('max-t');
  });

  it('ignores columns that a metric does not need', async () => {
    const rows = { yPred: [1, 5, 3, 3], yTrue: [1, null, 'x', 1], sensitive: Array.from('aabb') };
    const options = { minGroupSize: 1, withCi: false };
    const expected = { value: 0, nDropped: 0 };
    expect(computeMetric('mean_prediction_difference', rows, options)).to.include(expected);
    expect(await new FairnessAnalyzer().metric('mean_prediction_difference', rows, options)).to.include(expected);
    expect(metricFrame({ ...rows, metrics: ['mean_prediction'] }, options).nDropped).to.equal(0);
  });

  it('a level very close to 1 gives no interval instead of NaN', () => {
    const rows = { yPred: [1, 0, 1, 1], sensitive: Array.from('aabb') };
    for (const ciMethod of ['simultaneous', 'percentile', 'bca'] as const) {
      const options = { minGroupSize: 1, ciLevel: 1 - Number.EPSILON / 2, ciMethod, ciSamples: 20 };
      const result = computeMetric('demographic_parity_difference', rows, options);
      expect((result.ci ?? []).some(Number.isNaN)).to.equal(false);
      expect(result.perGroupCi?.['a']?.['selection_rate']).to.equal(null);
    }
  });

  it('an excluded group may be called __proto__', () => {
    const result = demographicParityDifference(
      [1, 0, 1],
      ['a', 'b', '__proto__'].map((label) => label),
      { minGroupSize: 2 },
    );
    expect(Object.keys(result.excluded)).to.have.members(['a', 'b', '__proto__']);
  });

  it('warns of a small denominator', () => {
    const result = equalizedOddsDifference([1, 0, 1, 0], [1, 0, 0, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
    expect(result.warnings).to.include(
      'the true positive rate of a is based on only 1 rows with a positive true label',
    );
  });

  it('a risk ratio with a smallest rate of 0 is null, with a warning', () => {
    const result = demographicParityDifference([1, 1, 0, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
    expect(result.effectSize).to.equal(null);
    expect(result.warnings).to.include('no risk ratio: the smallest rate is 0');
  });

  it('the risk ratio is the largest rate divided by the smallest', () => {
    const result = demographicParityDifference([1, 1, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
    expect(result.effectSize).to.equal(2);
  });
});

describe('missing values', () => {
  it('rows without a decision or a group are dropped and counted', () => {
    const yPred = [1, null, 0, NaN, 1, 0];
    const groups = ['a', 'a', 'b', 'b', null, undefined];
    const result = demographicParityDifference(yPred, groups, { minGroupSize: 1 });
    expect(result.value).to.equal(1);
    expect(result.nDropped).to.equal(4);
  });

  it('a row without a true label counts for demographic parity and not for equalized odds', () => {
    const yTrue = [1, 0, null, 1, 0, null];
    const yPred = [1, 0, 1, 0, 0, 1];
    const groups = ['a', 'a', 'a', 'b', 'b', 'b'];
    expect(equalizedOddsDifference(yTrue, yPred, groups, { minGroupSize: 1 }).nDropped).to.equal(2);
    expect(demographicParityDifference(yPred, groups, { minGroupSize: 1 }).nDropped).to.equal(0);
  });

  it('missing groups form a separate group if requested', () => {
    const result = demographicParityDifference([1, 1, 0, 0], ['a', 'a', null, null], {
      minGroupSize: 1,
      nanPolicy: 'include',
    });
    expect(result.nPerGroup).to.deep.equal({ a: 2, '(missing)': 2 });
  });

  it('the options of an analyzer are defaults of its methods, even if undefined is passed', async () => {
    const analyzer = new FairnessAnalyzer({ minGroupSize: 2, nanPolicy: 'include' });
    const result = await analyzer.demographicParityDifference([1, 1, 0, 0], ['a', 'a', null, null], {
      nanPolicy: undefined,
    });
    expect(result.nPerGroup).to.deep.equal({ a: 2, '(missing)': 2 });
  });
});

describe('rejects invalid input with the argument, the index and the value', () => {
  it('names the missing column and the signature if the options are in its position', () => {
    const [decisions, groups, options] = [[1, 0], ['a', 'b'], { minGroupSize: 1 }];
    const forgotten = equalizedOddsDifference as unknown as (...args: unknown[]) => unknown;
    const signature = 'yTrue is missing: equalizedOddsDifference(yTrue, yPred, sensitive, options).';
    expect(() => forgotten(decisions, groups, options)).to.throw(ValueError, signature);
    expect(() => forgotten(decisions, groups)).to.throw(ValueError, signature);
    const ungrouped = demographicParityDifference as unknown as (...args: unknown[]) => unknown;
    expect(() => ungrouped(decisions, options)).to.throw(
      ValueError,
      'sensitive is missing: demographicParityDifference(yPred, sensitive, options).',
    );
    // A column may have the name of an option.
    const { value } = equalizedOddsDifference([1, 0, 1, 0], [1, 0, 1, 0], { level: ['a', 'a', 'b', 'b'] }, options);
    expect(value).to.equal(0);
  });

  const cases: [string, () => unknown, RegExp][] = [
    ['no rows', () => demographicParityDifference([], []), /no rows to measure/],
    ['all missing', () => demographicParityDifference([null, NaN], ['a', 'b']), /All 2 rows lack/],
    [
      'lengths that differ',
      () => demographicParityDifference([1, 0], ['a']),
      /yPred and sensitive differ in length: 2 and 1/,
    ],
    [
      'a score for a decision',
      () => demographicParityDifference([1, 0.5], ['a', 'b']),
      /yPred must be 0 or 1, but holds 0.5 at index 1/,
    ],
    ['text for a decision', () => demographicParityDifference(['yes', 'no'], ['a', 'b']), /holds 'yes' at index 0/],
    [
      'an infinite error',
      () => maeParityDifference([1, 2], [1, Infinity], ['a', 'b']),
      /yPred must be finite, but holds Infinity at index 1/,
    ],
    [
      'text for a number',
      () => maeParityDifference(['x', 2], [1, 2], ['a', 'b']),
      /yTrue must hold numbers, but holds 'x' at index 0/,
    ],
    [
      'a positive label that does not occur',
      () => demographicParityDifference(['yes', 'no'], ['a', 'b'], { positiveLabel: 'Yes' }),
      /No row of yPred holds the positive label 'Yes'/,
    ],
    [
      'predictions in other labels than the truth',
      () => equalizedOddsDifference(['yes', 'no'], ['Yes', 'No'], ['a', 'b'], { positiveLabel: 'yes' }),
      /yTrue uses other labels/,
    ],
    [
      'a label that is a name of JavaScript',
      () => demographicParityDifference(['constructor'], ['a']),
      /holds 'constructor'/,
    ],
    [
      'a byte that is neither 0 nor 1',
      () => demographicParityDifference(Uint8Array.of(1, 0, 2), ['a', 'b', 'a']),
      /yPred must be 0 or 1, but holds 2 at index 2/,
    ],
    [
      'such a byte in the true labels',
      () => equalizedOddsDifference(Uint8Array.of(1, 255, 0), Uint8Array.of(1, 0, 1), ['a', 'b', 'a']),
      /yTrue must be 0 or 1, but holds 255 at index 1/,
    ],
    [
      'a negative weight',
      () => demographicParityDifference([1, 0], ['a', 'b'], { sampleWeight: [1, -2] }),
      /sampleWeight must be 0 or more, but holds -2 at index 1/,
    ],
    [
      'a code without a label',
      () => demographicParityDifference([1, 0], { kind: 'categorical', codes: Int32Array.of(0, 3), labels: ['a'] }),
      /code 3 at index 1, but has 1 labels/,
    ],
    ...['demographic_parity_difference', 'mae_parity_difference', 'roc_auc_difference'].map(
      (metric): [string, () => unknown, RegExp] => [
        `a code without a label: ${metric}`,
        () => {
          const sensitive = { kind: 'categorical', codes: Int32Array.of(0, 3), labels: ['a'] } as const;
          return computeMetric(metric, {
            yPred: [1, 0],
            yTrue: [1, 0],
            yScore: [1, 0],
            sampleWeight: [1, 1],
            sensitive,
          });
        },
        /code 3 at index 1, but has 1 labels/,
      ],
    ),
    [
      'a code without a label, crossed',
      () =>
        demographicParityDifference([1, 0], {
          sex: { kind: 'categorical', codes: Int32Array.of(0, 3), labels: ['a', 'b'] },
          race: ['x', 'y'],
        }),
      /code 3 at index 1, but there is no label for this code/,
    ],
    [
      'a label twice',
      () =>
        demographicParityDifference([1, 0], { kind: 'categorical', codes: Int32Array.of(0, 1), labels: ['a', 'a'] }),
      /label 'a' twice/,
    ],
    [
      'a disposed tensor',
      () => {
        const gone = { shape: [2], dtype: 'int32', isDisposed: true, dataSync: () => [1, 0] };
        return demographicParityDifference(gone, ['a', 'b']);
      },
      /yPred is a tensor that has been disposed/,
    ],
    [
      'attributes of different lengths',
      () => demographicParityDifference([1, 0], { sex: ['a', 'b'], race: ['c'] }),
      /attributes differ in length/,
    ],
    ['no attribute', () => demographicParityDifference([1, 0], {}), /has no attributes/],
  ];
  for (const [title, run, message] of cases) {
    it(title, () => {
      expect(run).to.throw(DataValidationError, message);
    });
  }

  const badOptions: [string, () => unknown, RegExp][] = [
    [
      'an unknown method',
      () => demographicParityDifference([1], ['a'], { method: 'between' as never }),
      /must be one of between_groups, to_overall, to_reference. Got 'between'/,
    ],
    [
      'a level of 1',
      () => demographicParityDifference([1], ['a'], { ciLevel: 1 }),
      /ciLevel parameter must lie between 0 and 1/,
    ],
    [
      'a seed that is not a number',
      () => demographicParityDifference([1], ['a'], { seed: NaN }),
      /seed parameter must be a whole number. Got NaN/,
    ],
    [
      'an unknown average',
      () => demographicParityDifference([1], ['a'], { average: 'micro' as never }),
      /average parameter must be one of macro. Got 'micro'/,
    ],
    [
      'an unknown nanPolicy',
      () => demographicParityDifference([1], ['a'], { nanPolicy: 'keep' as never }),
      /nanPolicy parameter must be one of exclude, include/,
    ],
    [
      'a measure that a frame does not have',
      () => metricFrame({ yPred: [1], sensitive: ['a'], metrics: ['count'] }).metric('roc_auc'),
      /must be one of count. Got 'roc_auc'/,
    ],
    [
      'a minimum of 0',
      () => demographicParityDifference([1], ['a'], { minGroupSize: 0 }),
      /whole number of at least 1/,
    ],
  ];
  for (const [title, run, message] of badOptions) {
    it(title, () => {
      expect(run).to.throw(ValueError, message);
    });
  }

  it('an unknown backend', () => {
    expect(() => new FairnessAnalyzer({ backend: 'natve' })).to.throw(
      MetricComputationError,
      /no metric backend named 'natve'/,
    );
  });

  it('equalized odds without true labels', async () => {
    const bound = FairnessAnalyzer.fromDataFrame({ p: [1, 0], s: ['a', 'b'] }, { yPredCol: 'p', sensitiveCol: 's' });
    let caught: unknown;
    await bound.equalizedOddsDifference().catch((error: unknown) => (caught = error));
    expect(caught).to.be.instanceOf(MetricComputationError);
  });
});

describe('labels that are not 0 and 1', () => {
  it('reads booleans and the texts 0 and 1 as their value', () => {
    const expected = demographicParityDifference([1, 1, 0, 1], ['a', 'a', 'b', 'b'], {
      minGroupSize: 1,
      withCi: false,
    });
    for (const yPred of [
      [true, true, false, true],
      ['1', '1', '0', '1'],
      ['true', 'TRUE', 'false', 'true'],
      Uint8Array.of(1, 1, 0, 1),
      Float32Array.of(1, 1, 0, 1),
      [1n, 1n, 0n, 1n],
    ]) {
      const result = demographicParityDifference(yPred, ['a', 'a', 'b', 'b'], { minGroupSize: 1, withCi: false });
      expect(result.toJSON()).to.deep.equal(expected.toJSON());
    }
  });

  it('a positive label makes every other label 0', () => {
    const result = demographicParityDifference(['hire', 'hold', 'hire', 'no'], ['a', 'a', 'b', 'b'], {
      minGroupSize: 1,
      positiveLabel: 'hire',
    });
    expect(result.perGroup).to.deep.equal({ a: { selection_rate: 0.5 }, b: { selection_rate: 0.5 } });
  });

  it('sorts numeric groups as numbers', () => {
    const result = demographicParityDifference([1, 0, 1], [10, 9, 2], { minGroupSize: 1, withCi: false });
    expect(Object.keys(result.nPerGroup).sort()).to.deep.equal(['10', '2', '9']);
  });
});
