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

describe('effect sizes', () => {
  const bare = { minGroupSize: 1, withCi: false } as const;
  // Means 2.5, 7 and 4; variances 5/3, 10 and 8, with n - 1.
  const numbers = {
    yPred: [1, 2, 3, 4, 3, 5, 7, 9, 11, 2, 6],
    sensitive: Array.from('aaaabbbbbcc'),
  };

  it("Cohen's d of the two extreme means has the pooled variance of both groups, by hand", () => {
    const result = computeMetric('mean_prediction_difference', numbers, bare);
    expect(result.effectSizeName).to.equal('cohens_d');
    // (3 x 5/3 + 4 x 10) / 7 rows, without c.
    expect(result.effectSize).to.be.closeTo(4.5 / Math.sqrt(45 / 7), 1e-12);
    // c is nearer to a than b is, and a is below both.
    const toC = computeMetric('mean_prediction_difference', numbers, { ...bare, referenceGroup: 'c' });
    expect(toC.effectSize).to.be.closeTo(3 / Math.sqrt((4 * 10 + 8) / 5), 1e-12);
    const toB = computeMetric('mean_prediction_difference', numbers, { ...bare, referenceGroup: 'b' });
    expect(toB.effectSize).to.be.closeTo(4.5 / Math.sqrt(45 / 7), 1e-12);
  });

  it('the risk ratio of several rates is the largest one, without rates that are all 0', () => {
    // True positive rates 3/4 and 1/4; false positive rates 1/2 and 1/4.
    const yTrue = Array.from('111100001111 0000'.replace(' ', ''), Number);
    const yPred = Array.from('1110110010001000', Number);
    const sensitive = Array.from('aaaaaaaabbbbbbbb');
    const result = computeMetric('equalized_odds_difference', { yTrue, yPred, sensitive }, bare);
    expect([result.effectSizeName, result.effectSize]).to.deep.equal(['risk_ratio', 3]);
    const noFalse = yPred.map((decision, row) => (yTrue[row] === 0 ? 0 : decision));
    const other = computeMetric('equalized_odds_difference', { yTrue, yPred: noFalse, sensitive }, bare);
    expect(other.effectSize).to.equal(3);
  });

  it('there is none, with a warning, if the smallest rate is 0', () => {
    const rows = decisions({ a: [0, 40], b: [20, 40] });
    const { effectSize, effectSizeName, warnings } = computeMetric('demographic_parity_difference', rows, bare);
    expect([effectSize, effectSizeName]).to.deep.equal([null, null]);
    expect(warnings).to.include('no risk ratio: the smallest rate is 0');
  });

  const scores = { yTrue: [1, 0, 1, 0, 1, 0, 1, 0], yScore: [0.9, 0.2, 0.4, 0.6, 0.8, 0.3, 0.7, 0.1], sensitive: Array.from('aaaabbbb') }; // prettier-ignore
  const labels = { yPred: Array.from('xyxzxxyy'), sensitive: scores.sensitive };
  const NONE: readonly (readonly [what: string, metric: string, rows: object, options: object])[] = [
    ['with all rows, which are no second group', 'demographic_parity_difference', decisions({ a: [1, 4], b: [3, 4] }), { method: 'to_overall' }], // prettier-ignore
    ['of means with all rows', 'mean_prediction_difference', numbers, { method: 'to_overall' }],
    ['of several classes', 'demographic_parity_difference', { ...labels, average: 'macro' }, {}],
    ['of areas under curves', 'roc_auc_difference', scores, {}],
    ['of counts', 'count_difference', decisions({ a: [1, 4], b: [3, 5] }), {}],
    ['of equal numbers', 'mean_prediction_difference', { yPred: [1, 1, 2, 2], sensitive: Array.from('aabb') }, {}],
    ['if none is requested', 'demographic_parity_difference', decisions({ a: [1, 4], b: [3, 4] }), { withEffectSize: false }], // prettier-ignore
  ];
  for (const [what, metric, rows, options] of NONE) {
    it(`there is none ${what}`, () => {
      const result = computeMetric(metric, rows as never, { ...bare, ...options });
      expect(result.undefinedReason).to.equal(null);
      expect([result.effectSize, result.effectSizeName]).to.deep.equal([null, null]);
      expect(result.warnings.filter((warning) => warning.includes('risk ratio'))).to.deep.equal([]);
    });
  }
});

describe('intervals of single groups', () => {
  const z = 1.959963984540054;

  it('are normal for means, without a limit at 0', () => {
    // Means 1 and 5; the variance with n - 1 is 5/3 in both groups of four.
    const rows = { yPred: [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], sensitive: Array.from('aaaabbbb') };
    const { perGroupCi } = computeMetric('mean_prediction_difference', rows, { minGroupSize: 1 });
    const half = z * Math.sqrt(5 / 3 / 4);
    for (const [group, mean] of [
      ['a', 1],
      ['b', 5],
    ] as const) {
      const [low, high] = perGroupCi?.[group]?.mean_prediction ?? [];
      expect(low).to.be.closeTo(mean - half, 1e-12);
      expect(high).to.be.closeTo(mean + half, 1e-12);
    }
    expect(perGroupCi?.['a']?.mean_prediction?.[0]).to.be.below(0);
    const [wide] = computeMetric('mean_prediction_difference', rows, { minGroupSize: 1, ciLevel: 0.99 }).perGroupCi?.['a']?.mean_prediction ?? []; // prettier-ignore
    expect(wide).to.be.closeTo(1 - (half * 2.5758293035489004) / z, 1e-9);
  });

  it('of scores stay between 0 and 1', () => {
    const rows = { yTrue: [1, 1, 0, 0, 0, 0, 1, 1, 1, 0], yScore: [0.9, 0.4, 0.5, 0.1, 0.2, 0.3, 0.1, 0.6, 0.2, 0.5], sensitive: Array.from('aaaaabbbbb') }; // prettier-ignore
    const { perGroupCi, perGroup } = computeMetric('roc_auc_difference', rows, { minGroupSize: 1 });
    expect(perGroup['a']?.roc_auc).to.be.closeTo(5 / 6, 1e-12);
    expect(perGroupCi?.['a']?.roc_auc?.[1]).to.equal(1);
    expect(perGroupCi?.['b']?.roc_auc?.[0]).to.equal(0);
  });

  it('are not available for counts, R² and a level without a critical value', () => {
    const rows = { ...decisions({ a: [1, 4], b: [3, 4] }), yTrue: [1, 2, 3, 4, 5, 6, 7, 8] };
    const of = (metric: string, options: object = {}) => computeMetric(metric, rows, { minGroupSize: 1, ...options });
    expect(of('count_difference').perGroupCi).to.deep.equal({ a: { count: null }, b: { count: null } });
    expect(of('r2_difference').perGroupCi).to.deep.equal({ a: { r2: null }, b: { r2: null } });
    const level = { ciLevel: 1 - 2 ** -53 };
    expect(of('selection_rate_difference', level).perGroupCi?.['a']).to.deep.equal({ selection_rate: null });
    expect(of('mean_prediction_difference', level).perGroupCi?.['a']).to.deep.equal({ mean_prediction: null });
    expect(of('selection_rate_difference', { withCi: false }).perGroupCi).to.equal(null);
  });
});

describe('a metric without an interval or p-value gives the reason', () => {
  const rows = decisions({ a: [10, 40], b: [20, 40] });
  const numbers = { yPred: rows.yPred.map((one, row) => one + row / 100), sensitive: rows.sensitive };
  const cluster = rows.yPred.map((_, row) => row % 13);
  const half = rows.yPred.map((_, row) => (row % 2 === 0 ? 'x' : 'y'));
  const REASONS: readonly (readonly [metric: string, rows: object, options: object, ci: RegExp])[] = [
    ['selection_rate_difference', rows, { method: 'to_overall' }, /^no interval: not available for method 'to_overall'$/],
    ['selection_rate_difference', rows, { referenceGroup: 'a' }, /^no interval: not available for method 'to_reference'$/],
    ['count_difference', decisions({ a: [1, 40], b: [1, 50] }), {}, /^no interval: not available for count$/],
    ['selection_rate_difference', { ...rows, cluster }, { ciMethod: 'bca' }, /^no interval: 'bca' resamples rows, which are not independent/],
    ['selection_rate_difference', { yPred: half, sensitive: rows.sensitive, average: 'macro' }, { ciMethod: 'percentile' }, /^no interval: 'percentile' resamples counts of binary decisions/],
    ['mae_parity_ratio', { ...numbers, yTrue: numbers.yPred.map((one, row) => (row < 40 ? one : 0)) }, {}, /^no interval: a ratio of numbers that are not all positive$/],
    ['mean_prediction_difference', { yPred: [1, 2, 3, 4, 5], sensitive: Array.from('aaaab') }, { minGroupSize: 1 }, /^no interval: a group has one row, or numbers too large/],
    ['selection_rate_difference', { ...rows, sampleWeight: rows.yPred.map(() => 1e200) }, {}, /^no interval: the weights are too large or too small to be squared/],
  ]; // prettier-ignore
  for (const [metric, given, options, reason] of REASONS) {
    it(`${metric}: ${reason.source}`, () => {
      const result = computeMetric(metric, given as never, options);
      expect([result.ci, result.ciLevel, result.ciMethod]).to.deep.equal([null, null, null]);
      const reasons = [...result.warnings.filter((warning) => warning.startsWith('no interval')), String(result.undefinedReason)]; // prettier-ignore
      expect(reasons.join('; ').split('; ')[0]).to.match(reason);
      const none = computeMetric(metric, given as never, { ...options, withCi: false });
      expect(none.warnings.filter((warning) => warning.startsWith('no interval'))).to.deep.equal([]);
    });
  }

  it('p-values of comparisons with a reference are not available', () => {
    const result = computeMetric('selection_rate_difference', rows, { withPValue: true, withCi: false, referenceGroup: 'a' }); // prettier-ignore
    expect([result.pValue, result.pValueMethod, result.seed]).to.deep.equal([null, null, null]);
    expect(result.warnings).to.include("no p-value: not available for method 'to_reference'");
  });

  it('the seed is part of a result that was drawn at random, and of no other', () => {
    const seedOf = (options: object, given: object = rows) =>
      computeMetric('selection_rate_difference', given as never, { seed: 9, ciSamples: 50, ...options }).seed;
    expect(seedOf({})).to.equal(9);
    expect(seedOf({ ciMethod: 'percentile' })).to.equal(9);
    expect(seedOf({ withCi: false })).to.equal(null);
    expect(seedOf({ withCi: false, withPValue: true })).to.equal(9);
    expect(seedOf({}, { ...rows, cluster })).to.equal(null);
    expect(seedOf({ withPValue: true }, { ...rows, cluster })).to.equal(null);
  });
});
