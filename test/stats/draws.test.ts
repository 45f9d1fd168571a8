import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { createRandom, type Random } from '../../src/internal/random.ts';
import { drawBinomial } from '../../src/stats/draw-binomial.ts';
import { drawHypergeometric } from '../../src/stats/permutation-test.ts';

const DRAWS = 50_000;

/** Returns log k! for k up to n, by summing logarithms. */
const logFactorials = new Float64Array(1_000_001);
for (let k = 1; k < logFactorials.length; k++) {
  logFactorials[k] = (logFactorials[k - 1] as number) + Math.log(k);
}

function logChoose(n: number, k: number): number {
  if (k < 0 || k > n) return -Infinity;
  return (logFactorials[n] as number) - (logFactorials[k] as number) - (logFactorials[n - k] as number);
}

interface Law {
  readonly mean: number;
  readonly variance: number;
  /** Returns the fourth central moment. */
  readonly fourth: number;
  probability(k: number): number;
}

function binomialLaw(n: number, p: number): Law {
  const variance = n * p * (1 - p);
  return {
    mean: n * p,
    variance,
    fourth: variance * (1 + 3 * (n - 2) * p * (1 - p)),
    probability: (k) => Math.exp(logChoose(n, k) + k * Math.log(p) + (n - k) * Math.log1p(-p)),
  };
}

function hypergeometricLaw(successes: number, failures: number, draws: number): Law {
  const total = successes + failures;
  const p = successes / total;
  const mean = draws * p;
  const variance = (mean * (1 - p) * (total - draws)) / (total - 1);
  const probability = (k: number): number =>
    Math.exp(logChoose(successes, k) + logChoose(failures, draws - k) - logChoose(total, draws));
  const reach = Math.ceil(12 * Math.sqrt(variance)) + 12;
  let fourth = 0;
  for (let k = Math.floor(mean) - reach; k <= mean + reach; k++) fourth += probability(k) * (k - mean) ** 4;
  return { mean, variance, fourth, probability };
}

/**
 * Returns Pearson's statistic of draws against a distribution, as standard deviations above its mean. Each cell has an
 * expected count of 10 or more.
 */
function chiSquareExcess(draws: Float64Array, law: Law): number {
  const counts = new Map<number, number>();
  for (const draw of draws) counts.set(draw, (counts.get(draw) ?? 0) + 1);
  const reach = Math.ceil(12 * Math.sqrt(law.variance)) + 12;
  let [statistic, cells, expected, observed] = [0, 0, 0, 0];
  let left = draws.length;
  let unseen = draws.length;
  for (let k = Math.floor(law.mean) - reach; k <= law.mean + reach; k++) {
    expected += law.probability(k) * draws.length;
    observed += counts.get(k) ?? 0;
    if (expected < 10 || left - expected < 10) continue;
    statistic += (observed - expected) ** 2 / expected;
    left -= expected;
    unseen -= observed;
    [cells, expected, observed] = [cells + 1, 0, 0];
  }
  if (left > 0.5) statistic += (unseen - left) ** 2 / left;
  return cells === 0 ? 0 : (statistic - cells) / Math.sqrt(2 * cells);
}

function expectLaw(draw: () => number, law: Law): void {
  const draws = Float64Array.from({ length: DRAWS }, draw);
  const mean = draws.reduce((sum, value) => sum + value, 0) / DRAWS;
  const variance = draws.reduce((sum, value) => sum + (value - law.mean) ** 2, 0) / DRAWS;
  expect(mean, 'mean').to.be.closeTo(law.mean, 4 * Math.sqrt(law.variance / DRAWS));
  expect(variance, 'variance').to.be.closeTo(law.variance, 4 * Math.sqrt((law.fourth - law.variance ** 2) / DRAWS));
  expect(chiSquareExcess(draws, law), 'whole distribution').to.be.below(4);
  expect(draws.every((value) => Number.isInteger(value))).to.equal(true);
}

/** A source that always returns the same number. */
function constant(value: number): Random {
  return { next: () => value, integer: (bound) => Math.floor(value * bound), normal: () => 0 };
}

/**
 * Draws at evenly spaced uniform numbers. Inversion assigns each value an interval as long as its probability, so its
 * count is within 1 of the expected count.
 */
function expectShares(draw: (random: Random) => number, law: Law): void {
  const points = 20_000;
  const counts = new Map<number, number>();
  for (let i = 0; i < points; i++) {
    const value = draw(constant((i + 0.5) / points));
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  for (const [value, count] of counts) {
    expect(count, `of ${value}`).to.be.closeTo(points * law.probability(value), 1.001);
  }
}

describe('one binomial draw', () => {
  for (const [n, p] of [
    [1, 0.5],
    [5, 0.02],
    [30, 0.4],
    [100, 0.2],
    [99, 0.93],
    [400, 0.97],
    [2000, 0.5],
    [10_000, 0.3],
    [1_000_000, 1e-6],
    [1_000_000, 2e-5],
    [1_000_000, 0.25],
    [1_000_000, 0.99999],
  ] as const) {
    it(`has the distribution B(${n}, ${p}): mean, variance and every probability${n < 100_000 ? '' : ' @slow'}`, () => {
      const random = createRandom(17);
      expectLaw(() => drawBinomial(n, p, random), binomialLaw(n, p));
    });

    it(`gives every value of B(${n}, ${p}) its share of the unit interval`, () => {
      expectShares((random) => drawBinomial(n, p, random), binomialLaw(n, p));
    });
  }

  it('of no trials is 0, at rate 0 is 0, at rate 1 is all', () => {
    const random = createRandom(1);
    expect(drawBinomial(0, 0.3, random)).to.equal(0);
    expect(drawBinomial(1e9, 0, random)).to.equal(0);
    expect(drawBinomial(1e9, 1, random)).to.equal(1e9);
  });

  it('stays within 0 and n at the ends of the unit interval and at extreme rates', () => {
    for (const end of [0, 1 - 2 ** -53]) {
      for (const n of [1, 2, 7, 1000, 1e9]) {
        for (const p of [Number.MIN_VALUE, 1e-300, 1e-9, 0.5, 1 - 2 ** -53]) {
          const k = drawBinomial(n, p, constant(end));
          expect(k, `${n} at ${p}`).to.be.within(0, n);
        }
      }
    }
  });

  it('uses one random number per draw, and none if the result is certain, so that later draws do not depend on it', () => {
    for (const [n, p, used] of [
      [0, 0.3, 0],
      [50, 0, 0],
      [50, 1, 0],
      [50, 0.3, 1],
      [1, 0.999, 1],
    ] as const) {
      const [drawn, counted] = [createRandom(8), createRandom(8)];
      drawBinomial(n, p, drawn);
      for (let draw = 0; draw < used; draw++) counted.next();
      expect(drawn.next(), `${n} at ${p}`).to.equal(counted.next());
    }
  });

  it('gives the same draws for the same seed', () => {
    const [first, second] = [createRandom(5), createRandom(5)];
    const draws = Array.from({ length: 20 }, () => drawBinomial(50, 0.3, first));
    expect(Array.from({ length: 20 }, () => drawBinomial(50, 0.3, second))).to.deep.equal(draws);
  });

  for (const [n, p] of [
    [-1, 0.5],
    [1.5, 0.5],
    [NaN, 0.5],
    [Infinity, 0.5],
    [10, -0.1],
    [10, 1.1],
    [10, NaN],
  ] as const) {
    it(`rejects ${n} trials at rate ${p}`, () => {
      expect(() => drawBinomial(n, p, createRandom(1))).to.throw(
        ValueError,
        /^The (trials|rate) parameter must be .* Got .* instead\.$/,
      );
    });
  }
});

describe('one hypergeometric draw', () => {
  for (const [successes, failures, draws] of [
    [1, 1, 1],
    [4, 4, 4],
    [3, 17, 10],
    [17, 3, 15],
    [60, 50, 73],
    [100, 3, 102],
    [500, 700, 400],
    [1000, 999_000, 10_000],
    [1000, 999_000, 500],
    [500_000, 500_000, 100_000],
    [400_000, 100_000, 499_000],
  ] as const) {
    it(`has the distribution of ${draws} draws from ${successes} successes and ${failures} failures${draws < 1000 ? '' : ' @slow'}`, () => {
      const random = createRandom(23);
      expectLaw(
        () => drawHypergeometric(successes, failures, draws, random),
        hypergeometricLaw(successes, failures, draws),
      );
    });

    it(`gives every number of successes in ${draws} of ${successes} and ${failures} its share of the unit interval${draws < 1000 ? '' : ' @slow'}`, () => {
      expectShares(
        (random) => drawHypergeometric(successes, failures, draws, random),
        hypergeometricLaw(successes, failures, draws),
      );
    });
  }

  it('of no draws is 0, and of all draws is all successes', () => {
    const random = createRandom(1);
    expect(drawHypergeometric(5, 7, 0, random)).to.equal(0);
    expect(drawHypergeometric(0, 7, 3, random)).to.equal(0);
    expect(drawHypergeometric(5, 0, 3, random)).to.equal(3);
    expect(drawHypergeometric(5, 7, 12, random)).to.equal(5);
    expect(drawHypergeometric(0, 0, 0, random)).to.equal(0);
    expect(drawHypergeometric(1e9, 1e9, 2e9, random)).to.equal(1e9);
  });

  it('uses one random number, and none if the result is certain', () => {
    for (const [successes, failures, drawn, used] of [
      [5, 7, 0, 0],
      [5, 0, 3, 0],
      [5, 7, 12, 0],
      [5, 7, 3, 1],
    ] as const) {
      const [own, counted] = [createRandom(8), createRandom(8)];
      drawHypergeometric(successes, failures, drawn, own);
      for (let draw = 0; draw < used; draw++) counted.next();
      expect(own.next(), `${drawn} of ${successes} and ${failures}`).to.equal(counted.next());
    }
  });

  it('stays within its range at the ends of the unit interval', () => {
    for (const end of [0, 1 - 2 ** -53]) {
      for (const [s, f, d] of [
        [1, 1, 1],
        [5, 3, 6],
        [3, 50, 52],
        [1e8, 1e8, 1e8],
        [1, 1e9, 10],
      ] as const) {
        const k = drawHypergeometric(s, f, d, constant(end));
        expect(k, `${d} of ${s} and ${f}`).to.be.within(Math.max(0, d - f), Math.min(d, s));
      }
    }
  });

  for (const [s, f, d] of [
    [-1, 5, 1],
    [5, 0.5, 1],
    [5, 5, 11],
    [5, 5, -1],
    [5, NaN, 1],
  ] as const) {
    it(`rejects ${d} draws from ${s} and ${f}`, () => {
      expect(() => drawHypergeometric(s, f, d, createRandom(1))).to.throw(
        ValueError,
        /^The (successes|failures|draws) parameter must be .* Got .* instead\.$/,
      );
    });
  }
});
