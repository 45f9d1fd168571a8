import tQuantile from '@stdlib/stats-base-dists-t-quantile';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import {
  type ClusterErrors,
  type ClusterFamily,
  clusterGapIntervals,
  pairErrors,
  pickErrors,
  scaleErrors,
} from '../../src/stats/cluster-gap.ts';

const MANY = 1e9;

interface FamilyOptions extends Partial<Pick<ClusterFamily, 'pairs' | 'ceiling'>> {
  readonly degrees?: number[];
}

function family(
  values: number[],
  variances: number[],
  { degrees = values.map(() => MANY), pairs = [], ceiling = Infinity }: FamilyOptions = {},
): ClusterFamily {
  return {
    values: Float64Array.from(values),
    variances: Float64Array.from(variances),
    degrees: Float64Array.from(degrees),
    pairs,
    ceiling,
  };
}

function intervalsOf(families: readonly ClusterFamily[], { level = 0.95, samples = 20_000 } = {}) {
  return clusterGapIntervals(families, { level, samples, random: createRandom(4) });
}

/** Returns pairs that all have the same covariance. */
function allPairs(groups: number, covariance: number): ClusterFamily['pairs'] {
  return Array.from({ length: groups }, (_, second) =>
    Array.from({ length: second }, (__, first) => ({ first, second, covariance, maxDegrees: MANY })),
  ).flat();
}

describe('interval of a gap with clusters', () => {
  it('of two groups is Welch’s: t with Satterthwaite’s degrees, here 24 + 24', () => {
    const { intervals, method, pValue } = intervalsOf([family([0.7, 0.4], [0.004, 0.004], { degrees: [24, 24] })]);
    const half = tQuantile(0.975, 48) * Math.sqrt(0.008);
    expect(method).to.equal('cluster-t');
    expect(intervals[0]?.[0]).to.be.closeTo(0.3 - half, 0.002 * half);
    expect(intervals[0]?.[1]).to.be.closeTo(0.3 + half, 0.002 * half);
    // SciPy 1.17.1: 2 * t.sf(0.3 / 0.008 ** 0.5, 48).
    expect(pValue).to.be.closeTo(0.0015618138409831275, 2e-5);
  });

  it('of two groups in the same clusters has the variance and the degrees of the difference', () => {
    const pairs = [{ first: 0, second: 1, covariance: 0.003, maxDegrees: 24 }];
    const { intervals, method } = intervalsOf([family([0.4, 0.7], [0.004, 0.004], { degrees: [24, 24], pairs })]);
    const half = tQuantile(0.975, 24) * Math.sqrt(0.004 + 0.004 - 2 * 0.003);
    expect(method).to.equal('cluster-t');
    expect(intervals[0]?.[0]).to.be.closeTo(0.3 - half, 0.003 * half);
    expect(intervals[0]?.[1]).to.be.closeTo(0.3 + half, 0.003 * half);
  });

  it('is from 0 to at most the ceiling, and contains the gap', () => {
    const wide = family([0.2, 0.9], [0.25, 0.25], { ceiling: 1 });
    expect(intervalsOf([wide]).intervals[0]).to.deep.equal([0, 1]);
    const beyond = family([0, 2], [0, 0], { ceiling: 1 });
    expect(intervalsOf([beyond]).intervals[0]).to.deep.equal([2, 2]);
  });

  // R: qtukey(0.95, K, Inf) / sqrt(2), the quantile of the largest of all pairs of equal standard errors.
  for (const [groups, critical] of [
    [3, 2.3437],
    [5, 2.7278],
  ] as const) {
    for (const covariance of [0, 0.6]) {
      it(`of ${groups} groups with covariances of ${covariance} is Tukey’s studentised range, ${critical}`, () => {
        // A part that all values have in common does not change their differences.
        const values = Array.from({ length: groups }, (_, group) => (group === 1 ? 10 : 0));
        const { intervals, method } = intervalsOf([
          family(
            values,
            values.map(() => 1),
            { pairs: covariance === 0 ? [] : allPairs(groups, covariance) },
          ),
        ]);
        const error = Math.sqrt(2 - 2 * covariance);
        expect(method).to.equal('cluster-max-t');
        expect(((intervals[0]?.[1] ?? NaN) - 10) / error).to.be.closeTo(critical, 0.04);
        expect((10 - (intervals[0]?.[0] ?? NaN)) / error).to.be.closeTo(critical, 0.04);
      });
    }
  }

  for (const [title, alike, covariance] of [
    ['the first and the last', [0, 2], 1],
    ['the first two, in reverse order, with a rounding error', [1, 0], 1 + 1e-13],
    ['the last two', [1, 2], 1],
  ] as const) {
    it(`of three groups of which ${title} always change together has one difference: z is 1.96`, () => {
      const [first, second] = alike;
      const isAlike = [0, 1, 2].map((group) => group === first || group === second);
      const { intervals } = intervalsOf([
        family(
          isAlike.map((same) => (same ? 0 : 10)),
          isAlike.map((same) => (same ? 1 : 3)),
          { pairs: [{ first, second, covariance, maxDegrees: MANY }] },
        ),
      ]);
      expect(((intervals[0]?.[1] ?? NaN) - 10) / 2).to.be.closeTo(1.96, 0.04);
      expect((10 - (intervals[0]?.[0] ?? NaN)) / 2).to.be.closeTo(1.96, 0.04);
    });
  }

  it('of two independent families: Šidák (1967), z at (1 + sqrt(0.95)) / 2 is 2.2365', () => {
    const { intervals, method } = intervalsOf([family([0, 10], [1, 3]), family([0, 0], [2, 2])]);
    expect(method).to.equal('cluster-max-t');
    expect(((intervals[0]?.[1] ?? NaN) - 10) / 2).to.be.closeTo(2.2365, 0.04);
    expect((intervals[1]?.[1] ?? NaN) / 2).to.be.closeTo(2.2365, 0.04);
    expect(intervals[1]?.[0]).to.equal(0);
  });

  it('the p-value is of the family with the largest |t|, in any order of the families', () => {
    const families = [family([5, 5], [1, 1]), family([0, 50], [1, 1])];
    for (const given of [families, families.toReversed()]) {
      expect(intervalsOf(given, { samples: 99 }).pValue).to.equal(0.01);
    }
    expect(intervalsOf([family([5, 5], [1, 1])]).pValue).to.equal(1);
    expect(intervalsOf([family([5, 6], [0, 0])]).pValue).to.equal(Number.MIN_VALUE);
  });

  it('of more than 64 groups is Bonferroni’s, with pairs x the two-sided tail as p-value', () => {
    const groups = (count: number) =>
      family(
        Array.from({ length: count }, (_, group) => (group === 3 ? 6 : 0)),
        Array.from({ length: count }, () => 1),
      );
    expect(intervalsOf([groups(64)], { samples: 10 }).method).to.equal('cluster-max-t');
    const { intervals, method, pValue } = intervalsOf([groups(65)]);
    expect(method).to.equal('bonferroni-cluster-t');
    // 2,080 pairs: z = 4.2230 (R: qnorm(1 - 0.025 / 2080)).
    expect(intervals[0]?.[1]).to.be.closeTo(6 + 4.223 * Math.SQRT2, 1e-3);
    expect(intervals[0]?.[0]).to.be.closeTo(6 - 4.223 * Math.SQRT2, 1e-3);
    // R: 2 * pnorm(-6 / sqrt(2)) is 2.2090497e-05.
    expect(pValue).to.be.closeTo(2080 * 2.2090497e-5, 1e-6);
    expect(intervalsOf([groups(3), groups(65)]).method).to.equal('bonferroni-cluster-t');
  });
});

describe('errors from clusters', () => {
  const errors: ClusterErrors = {
    variances: Float64Array.of(1, 4, 9),
    degrees: Float64Array.of(10, 20, 30),
    clusters: Float64Array.of(11, 21, 31),
    pairs: [
      { first: 0, second: 1, covariance: 0.5, maxDegrees: 25 },
      { first: 1, second: 2, covariance: -2, maxDegrees: 40 },
    ],
  };

  it('of multiples are multiplied by the square, and covariances by both factors', () => {
    const scaled = scaleErrors(errors, Float64Array.of(2, 3, -1));
    expect(Array.from(scaled.variances)).to.deep.equal([4, 36, 9]);
    expect(scaled.pairs.map(({ covariance }) => covariance)).to.deep.equal([3, 6]);
    expect(Array.from(scaled.degrees)).to.deep.equal([10, 20, 30]);
  });

  it('of some groups keep the pairs between them, with their new indexes', () => {
    const picked = pickErrors(errors, [2, 1]);
    expect(Array.from(picked.variances)).to.deep.equal([9, 4]);
    expect(Array.from(picked.degrees)).to.deep.equal([30, 20]);
    expect(Array.from(picked.clusters)).to.deep.equal([31, 21]);
    expect(picked.pairs).to.deep.equal([{ first: 1, second: 0, covariance: -2, maxDegrees: 40 }]);
    for (const group of [0, 1, 2]) expect(pickErrors(errors, [group]).pairs).to.deep.equal([]);
  });

  it('of a difference are sqrt(v1 + v2 - 2 cov), in either order, with at most the degrees of the pair', () => {
    const errorOf = pairErrors(errors);
    for (const [first, second, error, degrees] of [
      // Satterthwaite: 5^2 / (1 / 10 + 16 / 20) = 27.8, 10^2 / (1 / 10 + 81 / 30) and 13^2 / (16 / 20 + 81 / 30) = 48.3.
      [0, 1, 2, 25],
      [0, 2, Math.sqrt(10), 100 / (0.1 + 81 / 30)],
      [1, 2, Math.sqrt(17), 40],
    ] as const) {
      for (const found of [errorOf(first, second), errorOf(second, first)]) {
        expect(found.error).to.be.closeTo(error, 1e-12);
        expect(found.degrees).to.be.closeTo(degrees, 1e-12);
      }
    }
  });

  it('of a difference that never changes are 0', () => {
    const pairs = [{ first: 0, second: 1, covariance: 1 + 1e-15, maxDegrees: 9 }];
    expect(pairErrors({ ...errors, variances: Float64Array.of(1, 1, 1), pairs })(0, 1).error).to.equal(0);
    const constant = pairErrors({ ...errors, variances: new Float64Array(3), pairs: [] })(0, 1);
    expect(constant).to.deep.equal({ error: 0, degrees: Infinity });
  });
});
