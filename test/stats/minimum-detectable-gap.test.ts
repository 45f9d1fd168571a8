import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { binomialProbability } from '../../src/stats/draw-outward.ts';
import { minimumDetectableGap, minimumDetectableMeanGap } from '../../src/stats/index.ts';

/**
 * Returns the power of the two-sided pooled z test, by summing the probabilities of all pairs of counts that it
 * rejects.
 */
function exactPower(rateA: number, nA: number, rateB: number, nB: number, critical: number): number {
  const probabilitiesB = Array.from({ length: nB + 1 }, (_, k) => binomialProbability(k, nB, rateB));
  let power = 0;
  for (let a = 0; a <= nA; a++) {
    const probabilityA = binomialProbability(a, nA, rateA);
    if (probabilityA < 1e-12) continue;
    for (let b = 0; b <= nB; b++) {
      const pooled = (a + b) / (nA + nB);
      const error = Math.sqrt(pooled * (1 - pooled) * (1 / nA + 1 / nB));
      if (Math.abs(a / nA - b / nB) > critical * error) power += probabilityA * (probabilitiesB[b] as number);
    }
  }
  return power;
}

describe('smallest detectable gap of two rates', () => {
  it('with 76.7 in each group and power 0.9 is 0.25 around 0.625 (R: power.prop.test(p1 = .50, p2 = .75, power = .90))', () => {
    const gap = minimumDetectableGap({ rate: 0.625, trialsA: 76.7, trialsB: 76.7, level: 0.95, power: 0.9 });
    expect(gap).to.be.closeTo(0.25, 1e-4);
  });

  it('with 50 in each group and power 0.9 is 0.3026 around 0.6513 (R: power.prop.test(n = 50, p1 = .5, power = .9))', () => {
    const gap = minimumDetectableGap({ rate: (0.5 + 0.8026) / 2, trialsA: 50, trialsB: 50, level: 0.95, power: 0.9 });
    expect(gap).to.be.closeTo(0.3026, 1e-4);
  });

  it('has its power, by enumeration, for groups of unequal size', () => {
    const [nA, nB, rate] = [600, 200, 0.3];
    const gap = minimumDetectableGap({ rate, trialsA: nA, trialsB: nB, level: 0.95 }) ?? NaN;
    const rateA = rate + (gap * nB) / (nA + nB);
    expect(exactPower(rateA, nA, rateA - gap, nB, 1.959964)).to.be.closeTo(0.8, 0.012);
  });

  it('divides the error rate among comparisons, as Bonferroni: six at 95% equal one at 1 - 0.05 / 6', () => {
    const groups = { rate: 0.4, trialsA: 300, trialsB: 500 };
    expect(minimumDetectableGap({ ...groups, level: 0.95, comparisons: 6 })).to.be.closeTo(
      minimumDetectableGap({ ...groups, level: 1 - 0.05 / 6 }) ?? NaN,
      1e-12,
    );
  });

  it('falls as trials grow, by about sqrt(2) for twice as many, and rises with level and power', () => {
    const gap = (trials: number, level = 0.95, power = 0.8) =>
      minimumDetectableGap({ rate: 0.5, trialsA: trials, trialsB: trials, level, power }) ?? NaN;
    expect(gap(10_000) / gap(20_000)).to.be.closeTo(Math.SQRT2, 1e-3);
    expect(gap(1000, 0.99)).to.be.above(gap(1000));
    expect(gap(1000, 0.95, 0.9)).to.be.above(gap(1000));
  });

  it('is symmetric: for the rate of failures and the groups in reverse order', () => {
    expect(minimumDetectableGap({ rate: 0.9, trialsA: 400, trialsB: 150, level: 0.95 })).to.be.closeTo(
      minimumDetectableGap({ rate: 0.1, trialsA: 150, trialsB: 400, level: 0.95 }) ?? NaN,
      1e-12,
    );
  });

  it('changes only the other rate if one rate is at its bound', () => {
    // Group B at 0, group A at the gap g: z_crit sqrt(q (1 - q) (1/nA + 1/nB)) + z_power sqrt(g (1 - g) / nA) = g, q = g nA / (nA + nB).
    const [nA, nB] = [1000, 100];
    const gap = minimumDetectableGap({ rate: 0.01, trialsA: nA, trialsB: nB, level: 0.95 }) ?? NaN;
    const pooled = (gap * nA) / (nA + nB);
    const needed =
      1.959964 * Math.sqrt(pooled * (1 - pooled) * (1 / nA + 1 / nB)) + 0.8416212 * Math.sqrt((gap * (1 - gap)) / nA);
    expect(gap).to.be.above((0.01 * (nA + nB)) / nA);
    expect(gap).to.be.closeTo(needed, 1e-6);
  });

  for (const rate of [0, 1]) {
    it(`around a rate of ${rate} is a gap above 0`, () => {
      const gap = minimumDetectableGap({ rate, trialsA: 100, trialsB: 100, level: 0.95 });
      expect(gap).to.be.within(0.03, 0.1);
    });
  }

  for (const [title, trialsA, trialsB] of [
    ['one row each', 1, 1],
    ['no rows in the first group', 0, 100],
    ['no rows in the second group', 100, 0],
  ] as const) {
    it(`does not exist with ${title}`, () => {
      expect(minimumDetectableGap({ rate: 0.5, trialsA, trialsB, level: 0.95 })).to.equal(null);
    });
  }

  it('does not exist around a rate that is undefined', () => {
    expect(minimumDetectableGap({ rate: NaN, trialsA: 0, trialsB: 0, level: 0.95 })).to.equal(null);
  });

  const good = { rate: 0.5, trialsA: 10, trialsB: 10, level: 0.95 };
  for (const [parameter, wrong] of [
    ['rate', { rate: 1.1 }],
    ['trialsA', { trialsA: -1 }],
    ['trialsB', { trialsB: NaN }],
    ['level', { level: 1 }],
    ['power', { power: 0.4 }],
    ['power', { power: 1 }],
    ['comparisons', { comparisons: 0 }],
  ] as const) {
    it(`rejects a ${parameter} of ${Object.values(wrong)[0]}`, () => {
      expect(() => minimumDetectableGap({ ...good, ...wrong })).to.throw(
        ValueError,
        new RegExp(`^The ${parameter} parameter must be .* Got .* instead\\.$`),
      );
    });
  }
});

describe('smallest detectable gap of two means', () => {
  it('is (z_crit + z_power) times the standard error of the difference: 2.8016 at 95% and power 0.8', () => {
    // 1.959964 + 0.841621 (Abramowitz and Stegun, table 26.5).
    expect(minimumDetectableMeanGap({ standardErrorA: 3, standardErrorB: 4, level: 0.95 })).to.be.closeTo(
      5 * 2.801585,
      1e-4,
    );
  });

  it('at power 0.5 is the half-width of the interval, because z_power is 0', () => {
    expect(minimumDetectableMeanGap({ standardErrorA: 3, standardErrorB: 4, level: 0.95, power: 0.5 })).to.be.closeTo(
      5 * 1.959963984540054,
      1e-12,
    );
  });

  it('of two means of 16 values with standard deviation 1 is about 1: the rule n = 16 / d^2 (Lehr 1992)', () => {
    expect(minimumDetectableMeanGap({ standardErrorA: 1 / 4, standardErrorB: 1 / 4, level: 0.95 })).to.be.closeTo(
      1,
      0.01,
    );
  });

  it('divides the error rate among comparisons', () => {
    const errors = { standardErrorA: 1, standardErrorB: 1 };
    expect(minimumDetectableMeanGap({ ...errors, level: 0.95, comparisons: 5 })).to.be.closeTo(
      minimumDetectableMeanGap({ ...errors, level: 0.99 }),
      1e-9,
    );
  });

  it('is undefined if a standard error is undefined, and 0 if both are 0', () => {
    expect(minimumDetectableMeanGap({ standardErrorA: NaN, standardErrorB: 1, level: 0.95 })).to.be.NaN;
    expect(minimumDetectableMeanGap({ standardErrorA: 0, standardErrorB: 0, level: 0.95 })).to.equal(0);
  });

  it('rejects a negative standard error', () => {
    expect(() => minimumDetectableMeanGap({ standardErrorA: -1, standardErrorB: 1, level: 0.95 })).to.throw(
      ValueError,
      'The standardErrorA parameter must be a number of at least 0. Got -1 instead.',
    );
  });
});
