import { expect } from 'chai';

import { groupMoments, type GroupMoments, mergeMoments, removeMoments } from '../../src/stats/moments.ts';

const FIRST = { values: [2, 4, 7, -1, 10, 0.5], weights: [1, 2, 0.5, 3, 1.5, 1] };
const SECOND = { values: [3, 20, -6, 8], weights: [2, 0.25, 1, 4] };

// numpy 2.4.6: average(x, weights=w), (w * (x - mean) ** 2).sum() and (w * (x - mean) ** 3).sum().
const OF_FIRST: GroupMoments = {
  weight: 9,
  mean: 2.888888888888889,
  m2: 138.63888888888889,
  m3: 386.1003086419751,
};
const OF_SECOND: GroupMoments = {
  weight: 7.25,
  mean: 5.103448275862069,
  m2: 221.17241379310343,
  m3: -463.89774078478035,
};
const OF_BOTH: GroupMoments = {
  weight: 16.25,
  mean: 3.876923076923077,
  m2: 379.5038461538461,
  m3: 329.7797928994076,
};
const EMPTY: GroupMoments = { weight: 0, mean: 0, m2: 0, m3: 0 };

function expectMoments(found: GroupMoments, expected: GroupMoments): void {
  for (const part of ['weight', 'mean', 'm2', 'm3'] as const) {
    expect(found[part], part).to.be.closeTo(expected[part], 1e-11);
  }
}

describe('moments', () => {
  it('of groups are those of numpy, without the rows of no group', () => {
    const values = [...FIRST.values, 1e6, ...SECOND.values];
    const codes = [...FIRST.values.map(() => 2), -1, ...SECOND.values.map(() => 0)];
    const weights = [...FIRST.weights, 5, ...SECOND.weights];
    const { mean, m2, m3 } = groupMoments(values, codes, weights, 4);
    const of = (group: number, weight: number): GroupMoments => ({
      weight,
      mean: mean[group] as number,
      m2: m2[group] as number,
      m3: m3[group] as number,
    });
    expectMoments(of(0, 7.25), OF_SECOND);
    expectMoments(of(2, 9), OF_FIRST);
    for (const empty of [1, 3]) expect(of(empty, 0)).to.deep.equal(EMPTY);
  });

  it('without weights have weights of one', () => {
    const { mean, m2, m3 } = groupMoments(FIRST.values, new Int8Array(6), undefined, 1);
    // n times SciPy 1.17.1 stats.moment(x, 2) and stats.moment(x, 3).
    expect(mean[0]).to.equal(3.75);
    expect(m2[0]).to.be.closeTo(85.875, 1e-12);
    expect(m3[0]).to.be.closeTo(131.625, 1e-12);
  });

  it('of a group whose weights are all 0 are 0', () => {
    const { mean, m2, m3 } = groupMoments([3, 4], [0, 0], [0, 0], 1);
    expect([mean[0], m2[0], m3[0]]).to.deep.equal([0, 0, 0]);
  });

  it('of two sets are merged to those of all values, in either order', () => {
    expectMoments(mergeMoments(OF_FIRST, OF_SECOND), OF_BOTH);
    expectMoments(mergeMoments(OF_SECOND, OF_FIRST), OF_BOTH);
    expect(mergeMoments(OF_FIRST, EMPTY)).to.deep.equal(OF_FIRST);
    expect(mergeMoments(EMPTY, OF_FIRST)).to.deep.equal(OF_FIRST);
    // The mean of an empty set is not used.
    expect(mergeMoments(OF_FIRST, { ...EMPTY, mean: 5 })).to.deep.equal(OF_FIRST);
    expect(mergeMoments({ ...EMPTY, mean: 5 }, OF_FIRST)).to.deep.equal(OF_FIRST);
  });

  it('of a part are removed from those of all values', () => {
    expectMoments(removeMoments(OF_BOTH, OF_SECOND), OF_FIRST);
    expectMoments(removeMoments(OF_BOTH, OF_FIRST), OF_SECOND);
    expect(removeMoments(OF_FIRST, EMPTY)).to.deep.equal(OF_FIRST);
    expect(removeMoments(OF_FIRST, { ...EMPTY, mean: 5 })).to.deep.equal(OF_FIRST);
    expect(removeMoments(OF_FIRST, OF_FIRST)).to.deep.equal(EMPTY);
  });

  it('a rounding error that is left by a removal is not a variance', () => {
    // Nine equal values and 1000 are removed from ten of them and 1000; one value has no variance.
    for (let value = 0.1; value < 2; value += 0.1) {
      const ten: GroupMoments = { weight: 10, mean: value, m2: 0, m3: 0 };
      const far: GroupMoments = { weight: 1, mean: 1000, m2: 0, m3: 0 };
      const rest = removeMoments(mergeMoments(ten, far), mergeMoments({ ...ten, weight: 9 }, far));
      expect(rest.m2).to.equal(0);
      expect(rest.mean).to.be.closeTo(value, 1e-9);
    }
  });
});
