import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../src/exceptions/index.ts';
import { computeMetric, FairnessAnalyzer } from '../../src/metrics/index.ts';

describe('outcomes of several classes', () => {
  const yTrue = ['x', 'y', 'z', 'x', 'y', 'z'];
  const yPred = ['x', 'y', 'y', 'y', 'y', 'z'];
  const sensitive = ['a', 'a', 'a', 'b', 'b', 'b'];
  const options = { minGroupSize: 1, withCi: false } as const;

  it('macro: each class against the rest, averaged over classes', async () => {
    // Selection rates, a and b. x: 1/3, 0; y: 2/3, 2/3; z: 0, 1/3. Gaps 1/3, 0, 1/3.
    const rows = { yPred, sensitive, average: 'macro' } as const;
    expect(computeMetric('demographic_parity_difference', rows, options).value).to.be.closeTo(2 / 9, 1e-12);
    // TPR gaps: x 1 - 0, y 1 - 1, z 0 - 1; FPR gaps: x 0 - 0, y 1/2 - 1/2, z 0 - 0. The larger of both, averaged.
    const eo = computeMetric('equalized_odds_difference', { ...rows, yTrue }, options);
    expect(eo.value).to.be.closeTo(2 / 3, 1e-12);
    for (const backend of ['native', 'danfo', 'duckdb']) {
      const analyzer = new FairnessAnalyzer({ backend, minGroupSize: 1 });
      const result = await analyzer.equalizedOddsDifference(yTrue, yPred, sensitive, {
        average: 'macro',
        withCi: false,
      });
      expect(result.toJSON()).to.deep.equal(eo.toJSON());
    }
  });

  it('one class of several by its label', () => {
    const rows = { yTrue, yPred, sensitive, positiveLabel: 'x' };
    expect(computeMetric('equal_opportunity_difference', rows, options).value).to.equal(1);
  });

  it('an interval covers all classes simultaneously', () => {
    const times = <T>(values: readonly T[]): T[] => Array.from({ length: 20 }, () => values).flat();
    const rows = { yPred: times(yPred), sensitive: times(sensitive), average: 'macro' } as const;
    const { value, ci } = computeMetric('demographic_parity_difference', rows, { minGroupSize: 1 });
    expect(ci?.[0]).to.be.within(0, value);
    expect(ci?.[1]).to.be.within(value, 1);
  });

  it('macro rejects a positive label, numbers, and fewer than two classes', () => {
    const macro = { average: 'macro' } as const;
    expect(() =>
      computeMetric('demographic_parity_difference', { yPred, sensitive, positiveLabel: 'x', ...macro }),
    ).to.throw(ValueError, /positiveLabel/);
    expect(() =>
      computeMetric('mae_parity_difference', { yTrue: [1], yPred: [1], sensitive: ['a'], ...macro }),
    ).to.throw(ValueError, /applies to decisions/);
    expect(() =>
      computeMetric('demographic_parity_difference', { yPred: ['x', 'x'], sensitive: ['a', 'b'], ...macro }),
    ).to.throw(DataValidationError, /has 1/);
  });

  it('a metric without true labels uses the classes of the predictions only', () => {
    const rows = { yPred, sensitive, average: 'macro' } as const;
    const withTruth = { ...rows, yTrue: yTrue.map((label, row) => (row === 0 ? 'another' : label)) };
    const value = (of: Parameters<typeof computeMetric>[1]) =>
      computeMetric('demographic_parity_difference', of, options).value;
    expect(value(withTruth)).to.equal(value(rows));
  });
});
