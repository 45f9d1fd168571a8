import { expect } from 'chai';

import { weightedHolm } from '../../../src/metrics/subgroups/confirm.ts';
import {
  clusterVariance,
  detectableDifference,
  type Difference,
  fisherExact,
  newcombeInterval,
  testDifference,
} from '../../../src/metrics/subgroups/difference-test.ts';
import { measureSubgroups, type SubgroupTotals } from '../../../src/metrics/subgroups/measure.ts';
import { type CodedData, codedRows } from '../../helpers/coded-rows.ts';

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

  it('is twice the smaller tail of all tables with the same margins', () => {
    const choose = (n: number, k: number): number => {
      let product = 1;
      for (let i = 1; i <= k; i++) product = (product * (n - k + i)) / i;
      return product;
    };
    for (const [count, allHits, all] of [[3, 4, 9], [5, 5, 10], [1, 6, 12], [11, 2, 12], [7, 9, 11]] as const) {
      const lowest = Math.max(0, count + allHits - all);
      const hits = Array.from({ length: Math.min(count, allHits) - lowest + 1 }, (_, index) => lowest + index);
      const chance = hits.map((k) => (choose(allHits, k) * choose(all - allHits, count - k)) / choose(all, count));
      hits.forEach((k, index) => {
        const tails = [chance.slice(0, index + 1), chance.slice(index)].map((own) => own.reduce((a, b) => a + b, 0));
        const expected = Math.min(1, 2 * Math.min(...tails));
        expect(fisherExact(k, count, allHits, all), `${k} of ${count}, ${allHits} of ${all}`).to.be.closeTo(expected, 1e-12);
      });
    }
  }); // prettier-ignore

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

/**
 * Returns rows from a linear congruential generator: clusters of 1 to 7 neighbouring rows, about 40% of the rows in the
 * subgroup (code 1), and a value from 0 to 1. The reference values below come from the same rows.
 */
function generatedRows(): { readonly clusters: number[]; readonly inside: number[]; readonly values: number[] } {
  let state = 7;
  const draw = (): number => (state = (state * 75 + 74) % 65_537) / 65_537;
  let cluster = 0;
  const rows = Array.from({ length: 120 }, () => {
    if (draw() < 0.3) cluster++;
    return { cluster, inside: draw() < 0.4 ? 1 : 0, value: draw() };
  });
  return {
    clusters: rows.map((row) => row.cluster),
    inside: rows.map((row) => row.inside),
    values: rows.map((row) => row.value),
  };
}

describe('testDifference', () => {
  const { clusters, inside, values } = generatedRows();

  async function test(data: CodedData, isRate: boolean, centre = 0.4): Promise<Difference> {
    const measured = await measureSubgroups(codedRows(data, isRate), [{ columns: [0], codes: [1] }], { half: undefined, centre }); // prettier-ignore
    return testDifference(measured, 0, { isRate, hasClusters: data.clusters !== undefined });
  }

  const byCluster = clusters.map((cluster) => Number((cluster * 3) % 5 < 2));
  // numpy 2.4 and scipy 1.17: the sums of the influence of each row over clusters (Woodruff), and the score test.
  for (const [name, data, isRate, expected] of [
    ['scores of independent rows', { codes: [inside], values }, false,
      { difference: -0.07782718159207774, pValue: 0.18743738886827516, ci: [-0.1745491046947771, 0.01889474151062162] }],
    ['scores with clusters', { codes: [inside], values, clusters }, false,
      { difference: -0.07782718159207774, pValue: 0.2179553259140668, ci: [-0.17840705817303407, 0.02275269498887858] }],
    ['rates with clusters', { codes: [inside], values: values.map((value) => Number(value < 0.35)), clusters }, true,
      { difference: 0.1111111111111111, pValue: 0.23303898104418874, ci: [-0.04008372122110623, 0.26230594344332847] }],
    ['rates that move with the cluster', { codes: [byCluster], values: clusters.map((cluster) => Number((cluster * 7) % 10 < 4)), clusters }, true,
      { difference: -0.20138888888888887, pValue: 0.18726076642826506, ci: [-0.4376171901051227, 0.03483941232734497] }],
    ['rates with a single one, whose variance is that of independent rows', { codes: [inside], values: values.map((_, row) => Number(row === 3)), clusters }, true,
      { difference: 0.022222222222222223, pValue: 0.3260552696204632, ci: [-0.03253080626068554, 0.07697525070512998] }],
    ['rates of 1 and 0, whose interval ends at 1', { codes: [byCluster], values: byCluster, clusters }, true,
      { difference: 1, pValue: 0.00039992290545826927, ci: [0.9580677362572885, 1] }],
  ] as const satisfies readonly (readonly [string, CodedData, boolean, unknown])[]) {
    it(`is that of scipy for ${name}`, async () => {
      for (const centre of [0, 0.4]) {
        const found = await test(data, isRate, centre);
        expect(found.difference).to.be.closeTo(expected.difference, 1e-12);
        expect(found.pValue).to.be.closeTo(expected.pValue, 1e-9);
        found.interval(0.9).forEach((end, index) => expect(end).to.be.closeTo(expected.ci[index] ?? NaN, 1e-9));
      }
    });
  } // prettier-ignore

  it('is the opposite for the other rows', async () => {
    const data = { codes: [byCluster.map((code) => 1 - code)], values: byCluster, clusters };
    const found = await test(data, true);
    expect(found.difference).to.equal(-1);
    expect(found.interval(0.9)[0]).to.equal(-1);
    expect(found.interval(0.9)[1]).to.be.closeTo(-0.9580677362572885, 1e-9);
  });

  it('is Fisher’s exact test for rates of independent rows, with the interval of Newcombe', async () => {
    const ones = (hits: number, count: number): number[] => Array.from({ length: count }, (_, row) => Number(row < hits)); // prettier-ignore
    const codes = [Array.from({ length: 150 }, (_, row) => Number(row < 70))];
    const found = await test({ codes, values: [...ones(56, 70), ...ones(48, 80)] }, true);
    expect([found.value, found.rest]).to.deep.equal([0.8, 0.6]);
    // scipy 1.17: twice the smaller tail of hypergeom(150, 104, 70).
    expect(found.pValue).to.be.closeTo(0.012649422259796742, 1e-10);
    expect(found.interval(0.95).map((end) => end.toFixed(4))).to.deep.equal(['0.0524', '0.3339']);
  });

  it('tests from 10 clusters on each side, and from 2 rows on each side if rows are independent', async () => {
    const rows = (sizes: readonly [number, number]): { codes: number[][]; values: number[] } => ({
      codes: [sizes.flatMap((size, side) => Array<number>(size).fill(1 - side))],
      values: sizes.flatMap((size) => Array.from({ length: size }, (_, row) => row % 3)),
    });
    const clustered = async (...sizes: [number, number]): Promise<Difference> => {
      const { codes, values: own } = rows([2 * sizes[0], 2 * sizes[1]]);
      return test({ codes, values: own, clusters: own.map((_, row) => Math.floor(row / 2)) }, false);
    };
    for (const found of [await clustered(9, 30), await clustered(30, 9), await test(rows([1, 30]), false)]) {
      expect(found.pValue).to.be.NaN;
      expect(found.interval(0.9)).to.deep.equal([NaN, NaN]);
    }
    for (const found of [await clustered(10, 30), await clustered(30, 10), await test(rows([2, 30]), false)]) {
      expect(found.pValue).to.be.within(0, 1);
      expect(found.interval(0.9)[0]).to.be.below(found.difference);
    }
    const equal = await test({ ...rows([20, 20]), values: Array<number>(40).fill(2) }, false, 2);
    expect(equal.pValue).to.be.NaN;
  });
});

describe('detectableDifference', () => {
  it('has a power of 80%: the quantiles of the level and of the power, times the standard error', () => {
    // scipy 1.17: norm.ppf(0.975) + norm.ppf(0.8), and norm.ppf(1 - 0.05 / 20) + norm.ppf(0.8)
    const error = Math.sqrt(0.21 * (1 / 100 + 1 / 400));
    const all = { variance: 0.21, all: 500 };
    expect(detectableDifference(all, 100, { alpha: 0.05, tests: 1 })).to.be.closeTo(2.8015852181129683 * error, 1e-9);
    expect(detectableDifference(all, 100, { alpha: 0.05, tests: 10 })).to.be.closeTo(3.648655001916725 * error, 1e-9);
  });

  it('assumes one other row if there is none', () => {
    const error = Math.sqrt(1 / 100 + 1);
    const found = detectableDifference({ variance: 1, all: 100 }, 100, { alpha: 0.05, tests: 1 });
    expect(found).to.be.closeTo(2.8015852181129683 * error, 1e-9);
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
