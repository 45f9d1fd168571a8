import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { createBinomialSampler } from '../../src/stats/binomial-sampler.ts';
import { gapIntervals, quantileSorted, wilsonInterval } from '../../src/stats/index.ts';

describe('quantile, type 7', () => {
  // R: quantile(c(1, 2, 4, 8), p)
  const cases: [number, number][] = [
    [0, 1],
    [0.25, 1.75],
    [0.5, 3],
    [0.9, 6.8],
    [1, 8],
  ];
  for (const [probability, expected] of cases) {
    it(`of 1, 2, 4, 8 at ${probability}`, () => {
      expect(quantileSorted([1, 2, 4, 8], probability)).to.be.closeTo(expected, 1e-12);
    });
  }

  it('of nothing is not a number', () => {
    expect(quantileSorted([], 0.5)).to.be.NaN;
  });
});

describe('Wilson interval', () => {
  // Closed form: (k + z^2/2 -+ z sqrt(k (n - k)/n + z^2/4)) / (n + z^2) with z = 1.959963984540054, worked by hand.
  it('of 81 in 263 at 95%, the example of Newcombe (1998): 0.2553 to 0.3662', () => {
    const [low, high] = wilsonInterval(81, 263, 0.95);
    expect(low).to.be.closeTo(0.2553, 5e-5);
    expect(high).to.be.closeTo(0.3662, 5e-5);
  });

  it('of 0 in 20 begins at 0 (Newcombe 1998: 0 to 0.1611)', () => {
    const [low, high] = wilsonInterval(0, 20, 0.95);
    expect(low).to.equal(0);
    expect(high).to.be.closeTo(0.1611, 5e-5);
  });

  it('of 29 in 29 ends at 1 (Newcombe 1998: 0.8830 to 1)', () => {
    const [low, high] = wilsonInterval(29, 29, 0.95);
    expect(low).to.be.closeTo(0.883, 5e-5);
    expect(high).to.equal(1);
  });

  it('of nothing is everything', () => {
    expect(wilsonInterval(0, 0, 0.95)).to.deep.equal([0, 1]);
  });
});

describe('binomial sampler', () => {
  for (const [n, p] of [
    [1, 0.5],
    [30, 0.4],
    [100, 0.2],
    [400, 0.97],
    [10_000, 0.3],
    [1_000_000, 1e-5],
  ] as const) {
    it(`has the mean and variance of B(${n}, ${p}) over 100,000 draws, to 5 standard errors`, () => {
      const draw = createBinomialSampler(n, p, createRandom(17));
      const draws = Float64Array.from({ length: 100_000 }, () => draw());
      const mean = draws.reduce((sum, value) => sum + value, 0) / draws.length;
      const variance = draws.reduce((sum, value) => sum + (value - mean) ** 2, 0) / draws.length;
      const expected = n * p * (1 - p);
      // Fourth central moment of a binomial: npq (1 + 3 (n - 2) pq).
      const fourth = expected * (1 + 3 * (n - 2) * p * (1 - p));
      expect(mean).to.be.closeTo(n * p, 5 * Math.sqrt(expected / 100_000));
      expect(variance).to.be.closeTo(
        expected,
        5 * Math.sqrt((fourth - expected ** 2) / 100_000) + (25 * expected) / 100_000,
      );
      expect(Math.min(...draws)).to.be.at.least(0);
      expect(Math.max(...draws)).to.be.at.most(n);
    });
  }
});

describe('interval of the largest gap', () => {
  /** How often the interval holds the true gap, over simulated data. */
  function coverage(rates: readonly number[], n: number, runs: number): number {
    const random = createRandom(11);
    const gap = Math.max(...rates) - Math.min(...rates);
    let held = 0;
    for (let run = 0; run < runs; run++) {
      const successes = rates.map((rate) => {
        let count = 0;
        for (let i = 0; i < n; i++) count += Number(random.next() < rate);
        return count;
      });
      const trials = rates.map(() => n);
      const { intervals } = gapIntervals([{ kind: 'rates', successes, trials }], {
        level: 0.95,
        samples: 200,
        random: createRandom(run),
      });
      const [low, high] = intervals[0] ?? [1, 0];
      held += Number(low <= gap && gap <= high);
    }
    return held / runs;
  }

  it('covers 0 where all groups are equal, at about its level or more', () => {
    expect(coverage([0.3, 0.3, 0.3, 0.3], 150, 300)).to.be.at.least(0.92);
  });

  it('covers a true gap, at about its level or more', () => {
    expect(coverage([0.2, 0.35, 0.5], 150, 300)).to.be.at.least(0.92);
  });

  it('for two groups and many rows is close to Agresti and Caffo with the normal quantile', () => {
    const [k1, n1, k2, n2] = [4000, 10000, 3000, 10000];
    const { intervals, method } = gapIntervals([{ kind: 'rates', successes: [k1, k2], trials: [n1, n2] }], {
      level: 0.95,
      samples: 20_000,
      random: createRandom(3),
    });
    const p1 = (k1 + 1) / (n1 + 2);
    const p2 = (k2 + 1) / (n2 + 2);
    const half = 1.959964 * Math.sqrt((p1 * (1 - p1)) / (n1 + 2) + (p2 * (1 - p2)) / (n2 + 2));
    expect(intervals[0]?.[0]).to.be.closeTo(p1 - p2 - half, 5e-4);
    expect(intervals[0]?.[1]).to.be.closeTo(p1 - p2 + half, 5e-4);
    expect(method).to.equal('simultaneous');
  });

  it('above 64 groups is Bonferroni, and says so', () => {
    const trials = Array<number>(65).fill(100);
    const successes = trials.map((_, group) => 30 + (group % 5));
    const { intervals, method } = gapIntervals([{ kind: 'rates', successes, trials }], {
      level: 0.95,
      samples: 10,
      random: createRandom(1),
    });
    expect(method).to.equal('bonferroni-agresti-caffo');
    // 2,080 pairs: z = 4.2230 (R: qnorm(1 - 0.025 / 2080)).
    const [p1, p2] = [35 / 102, 31 / 102];
    const half = 4.223 * Math.sqrt((p1 * (1 - p1) + p2 * (1 - p2)) / 102);
    expect(intervals[0]?.[1]).to.be.closeTo(p1 - p2 + half, 2e-3);
    expect(intervals[0]?.[0]).to.equal(0);
  });
});
