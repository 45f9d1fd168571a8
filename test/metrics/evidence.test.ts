import { expect } from 'chai';

import { computeMetric, maeParityDifference, metricOf, reduceClassification } from '../../src/metrics/index.ts';

/** The decisions of groups, from counts of positives and rows. */
function decisions(groups: Readonly<Record<string, readonly [positives: number, rows: number]>>) {
  const yPred: number[] = [];
  const sensitive: string[] = [];
  for (const [label, [positives, rows]] of Object.entries(groups)) {
    for (let row = 0; row < rows; row++) {
      yPred.push(Number(row < positives));
      sensitive.push(label);
    }
  }
  return { yPred, sensitive };
}

describe('intervals of gaps', () => {
  // se = sqrt(.2 x .8 / 1000 + .6 x .4 / 1000) = .02, so normal theory gives 0.4 ± 1.96 x .02.
  const far = decisions({ a: [200, 1000], b: [600, 1000] });
  for (const ciMethod of ['simultaneous', 'percentile', 'bca'] as const) {
    it(`${ciMethod}: agrees with normal theory for two large groups with different rates`, () => {
      const { ci, ciMethod: used } = computeMetric('demographic_parity_difference', far, { ciMethod, ciSamples: 4000 });
      expect(used).to.equal(ciMethod);
      expect(ci?.[0]).to.be.closeTo(0.4 - 0.0392, 0.003);
      expect(ci?.[1]).to.be.closeTo(0.4 + 0.0392, 0.003);
    });
  }

  it('is computed on the log scale for a ratio: ln(1/3) ± 1.96 sqrt(.8 / 200 + .4 / 600)', () => {
    const { ci, value } = computeMetric('demographic_parity_ratio', far, { ciSamples: 4000 });
    const half = 1.96 * Math.sqrt(0.8 / 200 + 0.4 / 600);
    expect(value).to.be.closeTo(1 / 3, 1e-12);
    expect(ci?.[0]).to.be.closeTo(Math.exp(-half) / 3, 0.005);
    expect(ci?.[1]).to.be.closeTo(Math.exp(half) / 3, 0.005);
  });

  it('for groups that differ by chance, the simultaneous interval contains 0 and the percentile interval does not', () => {
    const equal = decisions({ a: [150, 500], b: [156, 500], c: [147, 500] });
    const of = (ciMethod: 'simultaneous' | 'percentile') =>
      computeMetric('demographic_parity_difference', equal, { ciMethod }).ci?.[0];
    expect(of('simultaneous')).to.equal(0);
    expect(of('percentile')).to.be.greaterThan(0);
  });

  it('percentile and BCa report that they need counts of decisions', () => {
    const y = Array.from({ length: 60 }, (_, row) => row % 7);
    const groups = y.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const result = maeParityDifference(y, [...y].reverse(), groups, { minGroupSize: 1, ciMethod: 'bca' });
    expect(result.ci).to.equal(null);
    expect(result.warnings.join()).to.match(/no interval: 'bca' resamples counts of binary decisions/);
  });

  it('a comparison with all rows has a percentile interval but no simultaneous one', () => {
    const of = (ciMethod: 'simultaneous' | 'percentile') =>
      computeMetric('demographic_parity_difference', far, { ciMethod, method: 'to_overall' });
    expect(of('simultaneous').warnings.join()).to.match(/no interval: not available for method 'to_overall'/);
    // Overall 0.4, both groups 0.2 from it.
    expect(of('percentile').ci?.[0]).to.be.closeTo(0.2 - 0.0196, 0.003);
  });

  it("the interval of each group is Wilson's: 3 of 4 at 95% is 0.3006 to 0.9544", () => {
    const rows = decisions({ a: [3, 4], b: [1, 4] });
    const { perGroupCi } = computeMetric('demographic_parity_difference', rows, { minGroupSize: 1 });
    const [low = NaN, high = NaN] = perGroupCi?.['a']?.selection_rate ?? [];
    expect(low).to.be.closeTo(0.3006, 5e-5);
    expect(high).to.be.closeTo(0.9544, 5e-5);
  });
});

describe('p-values of gaps', () => {
  const options = { minGroupSize: 1, withPValue: true, withCi: false, ciSamples: 20_000 } as const;

  it('two groups of four: the exact hypergeometric tail 34/70', () => {
    // With 4 of 8 positives, with a difference of at least 2: counts 0, 1, 3, 4 of 70 draws weigh 1 + 16 + 16 + 1.
    const result = computeMetric('demographic_parity_difference', decisions({ a: [3, 4], b: [1, 4] }), options);
    expect(result.pValue).to.be.closeTo(34 / 70, 0.012);
    expect(result.pValueMethod).to.equal('permutation');
  });

  it('equalized odds permutes within true labels', () => {
    // All of the gap is in the positives, 3 of 4 against 1 of 4; all negatives get a negative decision.
    const yTrue = [1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0];
    const yPred = [1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    const sensitive = Array.from('aaaaaabbbbbb');
    const result = computeMetric('equalized_odds_difference', { yTrue, yPred, sensitive }, options);
    expect(result.pValue).to.be.closeTo(34 / 70, 0.012);
  });

  it('a ratio and a difference of the same two groups have the same p-value', () => {
    const rows = decisions({ a: [3, 4], b: [1, 4] });
    const ratio = computeMetric('demographic_parity_ratio', rows, options);
    expect(ratio.pValue).to.be.closeTo(34 / 70, 0.012);
  });

  it('is approximate with weights, and reports so', () => {
    const rows = {
      ...decisions({ a: [30, 60], b: [30, 60] }),
      sampleWeight: Array.from({ length: 120 }, (_, i) => 1 + (i % 3)),
    };
    const result = computeMetric('demographic_parity_difference', rows, options);
    expect(result.pValueMethod).to.equal('max-t');
    expect(result.pValue).to.be.within(0, 1);
  });

  it('is null unless requested', () => {
    const result = computeMetric('demographic_parity_difference', decisions({ a: [3, 4], b: [1, 4] }), {
      minGroupSize: 1,
    });
    expect([result.pValue, result.pValueMethod]).to.deep.equal([null, null]);
  });
});

describe('minimum detectable difference', () => {
  it('R: power.prop.test(n = 50, p1 = .50, p2 = .75) has power 0.740; at 0.8 the difference is slightly larger', () => {
    // From the documentation of R 4: power.prop.test(p1 = .50, p2 = .75, power = .90) needs n = 76.7.
    const stats = reduceClassification(decisions({ a: [31, 50], b: [31, 50] }));
    const { minimumDetectableGap: gap } = metricOf('demographic_parity_difference', stats);
    expect(gap).to.be.within(0.25, 0.29);
  });

  it('is proportional to 1 / sqrt(rows)', () => {
    const at = (scale: number) =>
      computeMetric(
        'demographic_parity_difference',
        decisions({ a: [50 * scale, 100 * scale], b: [50 * scale, 100 * scale] }),
      ).minimumDetectableGap ?? NaN;
    expect(at(1) / at(16)).to.be.closeTo(4, 0.15);
  });
});

describe('evidence uses the groups that determine the value', () => {
  it('for equal groups, the minimum detectable difference is that of the smallest groups', () => {
    const rows = decisions({ large: [5000, 10_000], small: [20, 40] });
    const equal = computeMetric('demographic_parity_difference', rows).minimumDetectableGap ?? NaN;
    const nearly = decisions({ large: [5000, 10_000], small: [21, 40] });
    const separate = computeMetric('demographic_parity_difference', nearly).minimumDetectableGap ?? NaN;
    expect(equal).to.be.closeTo(separate, 0.02);
    expect(equal).to.be.greaterThan(0.15);
  });

  it('for a reference group, the risk ratio uses the farthest group', () => {
    // Reference 0.5, others 0.3 and 0.7, at the same distance: 0.7 / 0.5 or 0.5 / 0.3.
    const rows = decisions({ a: [50, 100], b: [30, 100], c: [71, 100] });
    const result = computeMetric('demographic_parity_difference', rows, { referenceGroup: 'a' });
    expect(result.value).to.be.closeTo(0.21, 1e-12);
    expect(result.effectSize).to.be.closeTo(0.71 / 0.5, 1e-12);
    expect([result.method, result.referenceGroup]).to.deep.equal(['to_reference', 'a']);
    expect(result.toMarkdown()).to.include('Compared with a.');
  });

  it('perfect balanced accuracy and F1 have intervals of positive width', () => {
    const yTrue = Array.from({ length: 60 }, (_, row) => row % 2);
    const sensitive = yTrue.map((_, row) => (row < 30 ? 'a' : 'b'));
    for (const metric of ['balanced_accuracy_difference', 'f1_difference']) {
      const { ci } = computeMetric(metric, { yTrue, yPred: yTrue, sensitive });
      expect(ci?.[1], metric).to.be.greaterThan(0.02);
    }
  });

  it('with more than 64 groups no replicates are drawn, and the method reports so', () => {
    const groups = Array.from({ length: 70 }, (_, group) => [`g${String(group)}`, [10 + (group % 7), 40]] as const);
    const rows = decisions(Object.fromEntries(groups));
    const weighted = { ...rows, sampleWeight: rows.yPred.map((_, row) => 1 + (row % 2)) };
    const result = computeMetric('demographic_parity_difference', weighted, { withPValue: true });
    expect([result.ciMethod, result.pValueMethod, result.seed]).to.deep.equal([
      'bonferroni-agresti-caffo',
      'bonferroni',
      null,
    ]);
  });
});
