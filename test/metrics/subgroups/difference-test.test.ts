import { expect } from 'chai';

import { weightedHolm } from '../../../src/metrics/subgroups/confirm.ts';
import { clusterVariance, fisherExact, newcombeInterval } from '../../../src/metrics/subgroups/difference-test.ts';
import type { SubgroupTotals } from '../../../src/metrics/subgroups/measure.ts';

describe('fisherExact', () => {
  // scipy 1.17: min(1, 2 * min(hypergeom.cdf(k, N, K, n), hypergeom.sf(k - 1, N, K, n)))
  for (const [hits, count, allHits, all, expected] of [
    [9, 50, 50, 1000, 0.0009815010791862013],
    [0, 40, 300, 1000, 9.014783669391713e-7],
    [120, 298, 3045, 10_000, 0.0003249102583228564],
    [5, 10, 10, 20, 1],
    [1500, 5000, 304_800, 1_000_000, 0.46978169991591706],
  ] as const) {
    it(`is that of scipy for ${hits} of ${count} among ${allHits} of ${all}`, () => {
      expect(fisherExact(hits, count, allHits, all)).to.be.closeTo(expected, 1e-8 * expected);
    });
  }

  it('gives 1 if nothing can vary', () => {
    expect(fisherExact(0, 5, 0, 20)).to.equal(1);
    expect(fisherExact(5, 5, 20, 20)).to.equal(1);
  });
});

it('newcombeInterval is that of the example of Newcombe (1998), table II', () => {
  const shown = (ends: readonly number[]): string => ends.map((end) => end.toFixed(4)).join(' to ');
  expect(shown(newcombeInterval([56, 70], [48, 80], 0.95))).to.equal('0.0524 to 0.3339');
  expect(shown(newcombeInterval([9, 10], [3, 10], 0.95))).to.equal('0.1705 to 0.8090');
  expect(shown(newcombeInterval([10, 10], [0, 20], 0.95))).to.equal('0.6791 to 1.0000');
});

describe('weightedHolm', () => {
  it('with equal weights is Holm’s method', () => {
    expect(weightedHolm([0.5, 0.01, 0.04, 0.02], [0.25, 0.25, 0.25, 0.25]).map((p) => p.toFixed(2))).to.deep.equal([
      '0.50',
      '0.04',
      '0.08',
      '0.06',
    ]);
  });

  it('rejects as the procedure says: in the order of p / weight, at the share of the weights that are left', () => {
    // q = 0.06, 0.04, 0.3; sums of weights from each on: 0.5 + 1/6, 1, 1/6.
    const adjusted = weightedHolm([0.03, 0.04 / 3, 0.05], [1 / 2, 1 / 3, 1 / 6]);
    expect(adjusted.map((p) => p.toFixed(4))).to.deep.equal(['0.0400', '0.0400', '0.0500']);
  });
});

describe('clusterVariance', () => {
  it('is the variance of statsmodels with cluster-robust errors, except for its factor of degrees of freedom', () => {
    const rows = CLUSTERED_ROWS;
    const clusters = [...new Set(rows.map(([cluster]) => cluster))];
    const totals = (isOwn: (inside: number) => boolean): { y: number[]; d: number[] } => {
      const part = clusters.map((cluster) => rows.filter(([own, inside]) => own === cluster && isOwn(inside)));
      return { y: part.map((own) => own.reduce((sum, [, , y]) => sum + y, 0)), d: part.map(({ length }) => length) };
    };
    const [own, all] = [totals((inside) => inside === 1), totals(() => true)];
    const dot = (a: readonly number[], b: readonly number[]): number =>
      a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
    const sumsOf = ({ y, d }: typeof own): SubgroupTotals => ({
      count: dot(d, d.map(() => 1)),
      sum: dot(y, y.map(() => 1)),
      clusters: d.filter((count) => count > 0).length,
      within: d.filter((count, index) => count === all.d[index]).length,
      yy: dot(y, y), yd: dot(y, d), dd: dot(d, d),
      yY: dot(y, all.y), yD: dot(y, all.d), dY: dot(d, all.y), dD: dot(d, all.d),
    }); // prettier-ignore
    const n = rows.length;
    // statsmodels multiplies by (n - 1) / (n - 2) as well.
    const variance = clusterVariance(sumsOf(all), sumsOf(own), 0) * ((n - 1) / (n - 2));
    expect(Math.sqrt(variance)).to.be.closeTo(STATSMODELS_ERROR, 1e-9);
  });
});

/**
 * Rows of 12 clusters: the cluster, whether the row is in the subgroup, and the outcome. numpy's default_rng(4) drew them.
 * The standard error is that of `OLS(outcome, [1, inside]).fit(cov_type='cluster')` of statsmodels 0.15.0.
 */
const CLUSTERED_ROWS: readonly (readonly [cluster: number, inside: number, outcome: number])[] = [
  [0, 0, 1],
  [0, 0, 1],
  [0, 0, 1],
  [0, 0, 1],
  [0, 0, 1],
  [1, 0, 0],
  [1, 1, 0],
  [1, 0, 1],
  [2, 0, 0],
  [2, 1, 1],
  [3, 0, 0],
  [3, 1, 1],
  [3, 0, 0],
  [3, 0, 0],
  [4, 0, 0],
  [4, 0, 1],
  [4, 0, 0],
  [4, 1, 0],
  [4, 1, 1],
  [5, 0, 0],
  [5, 1, 0],
  [5, 1, 0],
  [5, 0, 0],
  [5, 1, 0],
  [6, 0, 0],
  [7, 0, 1],
  [7, 1, 1],
  [7, 1, 1],
  [7, 0, 1],
  [7, 1, 1],
  [8, 1, 1],
  [8, 1, 1],
  [9, 0, 1],
  [9, 0, 1],
  [9, 0, 1],
  [9, 0, 0],
  [10, 1, 1],
  [11, 0, 1],
];
const STATSMODELS_ERROR = 0.20459375772200114;
