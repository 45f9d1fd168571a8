import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../src/exceptions/index.ts';
import { computeMetric, metricFrame } from '../../src/metrics/index.ts';

describe("other libraries' conventions", () => {
  it('fairlearn: rows without a group count for the overall value only', () => {
    // Selection rates: a 1/2, b 1; of all five rows, the one without a group included, 4/5.
    const rows = { yPred: [1, 0, 1, 1, 1], sensitive: ['a', 'a', 'b', 'b', null] };
    const of = (options: object) =>
      computeMetric('demographic_parity_difference', rows, {
        method: 'to_overall',
        minGroupSize: 1,
        withCi: false,
        ...options,
      }).value;
    expect(of({ compat: 'fairlearn' })).to.be.closeTo(0.3, 1e-12);
    expect(of({})).to.be.closeTo(0.25, 1e-12);
  });

  it('Aequitas: each group against the largest, by its ratio, and by a tau of 1.25 on both sides', () => {
    // Rates: a 4/8, b 3/4, c 1/4; a is the largest group. Disparities 1.5 and 0.5.
    const yPred = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0];
    const sensitive = Array.from('aaaaaaaabbbbcccc');
    const result = computeMetric('demographic_parity_ratio', { yPred, sensitive }, { compat: 'aequitas' });
    expect(result.value).to.equal(0.5);
    expect(result.perGroup['b']).to.deep.equal({ selection_rate: 0.75, selection_rate_disparity: 1.5 });
    expect(result.perGroup['c']).to.deep.equal({ selection_rate: 0.25, selection_rate_disparity: 0.5 });
    const toB = computeMetric(
      'demographic_parity_ratio',
      { yPred, sensitive },
      { compat: 'aequitas', referenceGroup: 'b' },
    );
    expect(toB.value).to.be.closeTo(1 / 3, 1e-12);
  });

  it('AIF360: unprivileged groups are pooled, and the difference has a sign', () => {
    // Privileged a: 1 of 2; the others together 3 of 4.
    const rows = { yPred: [1, 0, 1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b', 'c', 'c'] };
    const options = { compat: 'aif360', referenceGroup: 'a', withCi: false } as const;
    expect(computeMetric('statistical_parity_difference', rows, options).value).to.equal(0.25);
    expect(computeMetric('disparate_impact', rows, options).value).to.equal(1.5);
    const two = computeMetric('disparate_impact', rows, { ...options, referenceGroup: ['a', 'b'] });
    // a and b together 3 of 4, c 1 of 2.
    expect(two.value).to.be.closeTo(2 / 3, 1e-12);
  });

  it('AIF360 needs a privileged group that exists', () => {
    const rows = { yPred: [1, 0], sensitive: ['a', 'b'] };
    expect(() => computeMetric('disparate_impact', rows, { compat: 'aif360' })).to.throw(ValueError, /privileged/);
    expect(() => computeMetric('disparate_impact', rows, { compat: 'aif360', referenceGroup: 'z' })).to.throw(
      DataValidationError,
      /no group 'z'/,
    );
  });

  it('AIF360 compares with the privileged group only', () => {
    const rows = { yPred: [1, 0], sensitive: ['a', 'b'] };
    for (const options of [{ method: 'between_groups' }, { method: 'to_overall' }, { referenceGroup: [] }] as const) {
      expect(() =>
        computeMetric('disparate_impact', rows, { compat: 'aif360', referenceGroup: 'a', ...options }),
      ).to.throw(ValueError, /privileged group only|must name a group/);
    }
  });

  it('AIF360: a resample without a privileged decision has an infinite ratio, and no interval of NaN', () => {
    const rows = { yPred: [1, 1, 0, 0, 1, 0, 0, 0], sensitive: Array.from('aaaabbbb') };
    for (const ciMethod of ['percentile', 'bca'] as const) {
      const options = { compat: 'aif360', referenceGroup: 'b', ciMethod, ciSamples: 200 } as const;
      const { ci } = computeMetric('disparate_impact', rows, options);
      expect(ci?.[0]).to.be.within(0, 2);
      expect(ci?.[1]).to.be.at.least(2);
    }
  });

  it('fairlearn: a group without a mean of two rates makes the metric undefined, with a reason', () => {
    const rows = { yTrue: [1, 1, 0, 1], yPred: [1, 0, 1, 1], sensitive: Array.from('aabb') };
    const result = computeMetric('balanced_accuracy_difference', rows, { compat: 'fairlearn' });
    expect(result.undefinedReason).to.equal('a group has no balanced accuracy');
    const toB = { compat: 'fairlearn', method: 'to_reference', referenceGroup: 'b' } as const;
    expect(computeMetric('balanced_accuracy_ratio', rows, toB).value).to.be.NaN;
  });

  it('fairlearn: a group whose weights are all 0 has no selection rate and no mean prediction, and is skipped', () => {
    // fairlearn 0.15: a 0.25, b 1, c NaN, overall 0.5.
    const rows = {
      yPred: [1, 0, 1, 1, 0],
      sensitive: Array.from('aabbc'),
      sampleWeight: [1, 3, 1, 1, 0],
    };
    const options = { compat: 'fairlearn', withCi: false } as const;
    for (const measure of ['selection_rate', 'mean_prediction']) {
      const frame = metricFrame({ ...rows, metrics: [measure] }, options);
      expect(Object.values(frame.byGroup).map((values) => values[measure])).to.deep.equal([0.25, 1, NaN]);
      const difference = computeMetric(`${measure}_difference`, rows, options);
      expect(difference.value).to.equal(0.75);
      expect(difference.excluded['c']?.reason).to.include('their weights are all 0');
      expect(frame.ratio('to_overall')[measure]).to.equal(0.5);
    }
  });

  it('fairlearn: accuracy and error rate have no value if all weights of a group are 0', () => {
    // scikit-learn raises an error; an accuracy of 0 and an error rate of 0 at once would be wrong.
    const rows = { yTrue: [1, 1, 0], yPred: [1, 0, 1], sensitive: Array.from('abc'), sampleWeight: [1, 1, 0] };
    const { byGroup } = metricFrame({ ...rows, metrics: ['accuracy', 'error_rate'] }, { compat: 'fairlearn' });
    expect(byGroup['c']).to.deep.equal({ accuracy: NaN, error_rate: NaN });
  });

  it('fairlearn: a group without a ROC AUC is skipped', () => {
    // fairlearn 0.15: a 0, b 1, c NaN, overall 0.625.
    const rows = { yTrue: [1, 0, 1, 0, 1, 1], yScore: [0.5, 0.7, 0.6, 0.1, 0.3, 0.9], sensitive: Array.from('aabbcc') };
    const of = (method: 'between_groups' | 'to_overall') =>
      computeMetric('roc_auc_difference', rows, { compat: 'fairlearn', method, withCi: false });
    expect(of('between_groups').value).to.equal(1);
    expect(of('between_groups').excluded['c']?.reason).to.include('rows of the less frequent true label');
    expect(of('to_overall').value).to.equal(0.625);
  });

  it('fairlearn: the rate of an empty denominator is 0 for all rows too', () => {
    // No positives anywhere: TPR 0 in both groups and overall. FPR: a 1/2, b 1, overall 3/4.
    const rows = { yTrue: [0, 0, 0, 0], yPred: [1, 0, 1, 1], sensitive: Array.from('aabb') };
    const options = { compat: 'fairlearn', method: 'to_overall' } as const;
    expect(computeMetric('equalized_odds_difference', rows, options).value).to.equal(0.25);
    const frame = metricFrame({ ...rows, metrics: ['true_positive_rate'] }, options);
    expect(frame.overall).to.deep.equal({ true_positive_rate: 0 });
  });

  it('fairlearn: a rate of an empty denominator has no permutations', () => {
    const rows = { yTrue: [1, 1, 0, 1], yPred: [1, 0, 1, 1], sensitive: Array.from('aabb') };
    const options = { compat: 'fairlearn', withPValue: true, ciSamples: 20 } as const;
    expect(computeMetric('false_positive_rate_difference', rows, options).pValue).to.equal(null);
  });

  it('to_reference without any compat: the largest distance from the reference group', () => {
    const rows = { yPred: [1, 0, 1, 1, 0, 0], sensitive: ['a', 'a', 'b', 'b', 'c', 'c'] };
    const options = { method: 'to_reference', referenceGroup: 'b', minGroupSize: 1 } as const;
    expect(computeMetric('demographic_parity_difference', rows, options).value).to.equal(1);
  });

  it('a reference group implies to_reference and is rejected with other methods', () => {
    const rows = { yPred: [1, 0, 1, 1, 0, 0], sensitive: ['a', 'a', 'b', 'b', 'c', 'c'] };
    const options = { referenceGroup: 'a', minGroupSize: 1, withCi: false } as const;
    expect(computeMetric('demographic_parity_difference', rows, options).value).to.equal(0.5);
    expect(() =>
      computeMetric('demographic_parity_difference', rows, { ...options, method: 'between_groups' }),
    ).to.throw(ValueError, /for method 'to_reference'/);
  });
});
