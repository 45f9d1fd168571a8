import gammaln from '@stdlib/math-base-special-gammaln';
import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { wilsonInterval } from '../../../src/stats/proportion-interval.ts';
import { betaBinomialLower, betaBinomialSequence, betaBinomialUpper } from '../../../src/stats/sequential/index.ts';
import { stirlingError } from '../../../src/stats/stirling-error.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface BetaBinomialVectors {
  cases: { successes: number; n: number; alpha: number; lower: number; upper: number }[];
}

describeWithReference('beta-binomial sequence agrees with SciPy', () => {
  it('at both ends of all cases', () => {
    const { cases } = readVectors('beta_binomial_cs.json') as BetaBinomialVectors;
    expect(cases).to.have.length(94);
    for (const { successes, n, alpha, lower, upper } of cases) {
      const [low, high] = betaBinomialSequence(successes, n, alpha);
      expect(low, `lower of ${successes} in ${n} at ${alpha}`).to.be.closeTo(lower, 1e-12);
      expect(high, `upper of ${successes} in ${n} at ${alpha}`).to.be.closeTo(upper, 1e-12);
      // Compares the small lower ends too, to the accuracy of the bisection behind the vectors.
      if (lower > 0) expect(low / lower).to.be.closeTo(1, 1e-9);
    }
  });
});

/** Computes ln B(S + 1, n - S + 1) - S ln p - (n - S) ln(1 - p) by its definition. */
function logRatio(successes: number, trials: number, p: number): number {
  const failures = trials - successes;
  const beta = gammaln(successes + 1) + gammaln(failures + 1) - gammaln(trials + 2);
  return beta - (successes > 0 ? successes * Math.log(p) : 0) - (failures > 0 ? failures * Math.log1p(-p) : 0);
}

describe('beta-binomial sequence', () => {
  it('without trials is [0, 1], without successes begins at 0, without failures ends at 1', () => {
    expect(betaBinomialSequence(0, 0, 0.05)).to.deep.equal([0, 1]);
    expect(betaBinomialLower(0, 17, 0.05)).to.equal(0);
    expect(betaBinomialUpper(17, 17, 0.05)).to.equal(1);
  });

  it('has the closed form 1 - (alpha / (n + 1))^(1 / n) of no successes', () => {
    for (const n of [1, 2, 10, 1000, 1e6]) {
      for (const alpha of [0.5, 0.05, 1e-15]) {
        const expected = -Math.expm1(Math.log(alpha / (n + 1)) / n);
        expect(betaBinomialUpper(0, n, alpha) / expected).to.be.closeTo(1, 1e-13);
        expect(betaBinomialLower(n, n, alpha)).to.be.closeTo(1 - expected, 1e-14);
      }
    }
  });

  it('of one success in two solves p (1 - p) = alpha / 6', () => {
    for (const alpha of [0.9, 0.05, 1e-4]) {
      const root = Math.sqrt(1 - (4 * alpha) / 6);
      const [low, high] = betaBinomialSequence(1, 2, alpha);
      expect(low).to.be.closeTo((1 - root) / 2, 1e-15);
      expect(high).to.be.closeTo((1 + root) / 2, 1e-15);
    }
  });

  it('of half successes solves p (1 - p) = (alpha B)^(2 / n), to 1e-12 at a thousand million trials', () => {
    for (const n of [1e4, 1e6, 1e9]) {
      for (const alpha of [0.05, 1e-15]) {
        // 4^n B(n/2 + 1, n/2 + 1) = 2^n / ((n + 1) C(n, n/2) 2^-n), and the series of the central binomial coefficient.
        const logBeta = Math.log((Math.PI * n) / 2) / 2 + 1 / (4 * n) - Math.log(n + 1);
        const halfWidth = Math.sqrt(-Math.expm1((2 / n) * (Math.log(alpha) + logBeta))) / 2;
        const [low, high] = betaBinomialSequence(n / 2, n, alpha);
        expect(low).to.be.closeTo(0.5 - halfWidth, 1e-12);
        expect(high).to.be.closeTo(0.5 + halfWidth, 1e-12);
      }
    }
  });

  // mpmath 1.4.1 with 50 digits, by Newton's method on the definition.
  const precise: [successes: number, trials: number, alpha: number, lower: number, upper: number][] = [
    [3, 100, 1e-15, 3.941456661080229e-8, 0.3924778829283073],
    [100_000, 1e6, 1e-15, 0.09728152336216969, 0.1027629889002398],
    [2, 123_456_789, 1e-4, 1.0309623571432413e-14, 2.771322033225571e-7],
    [333_333_333, 1e9, 0.05, 0.3332567694308889, 0.3334099024315401],
    [1, 1e9, 1e-15, 9.999999990000001e-34, 5.9345415402537244e-8],
  ];
  for (const [successes, trials, alpha, lower, upper] of precise) {
    it(`keeps its digits for ${successes} in ${trials} at ${alpha}, even near 0`, () => {
      expect(betaBinomialLower(successes, trials, alpha) / lower).to.be.closeTo(1, 1e-12);
      expect(betaBinomialUpper(successes, trials, alpha) / upper).to.be.closeTo(1, 1e-12);
    });
  }

  it('excludes rates just outside its ends, and includes rates just inside', () => {
    for (const trials of [1, 3, 30, 400, 2000]) {
      for (const alpha of [0.5, 0.05, 1e-8]) {
        const threshold = Math.log(1 / alpha);
        for (const successes of new Set([1, Math.ceil(trials / 7), Math.ceil(trials / 2), trials])) {
          const [low, high] = betaBinomialSequence(successes, trials, alpha);
          expect(logRatio(successes, trials, low * (1 - 1e-9))).to.be.above(threshold);
          expect(logRatio(successes, trials, low * (1 + 1e-9))).to.be.below(threshold);
          if (successes === trials) continue;
          expect(logRatio(successes, trials, high + 1e-9 * (1 - high) + 1e-15)).to.be.above(threshold);
          expect(logRatio(successes, trials, high - 1e-9 * (1 - high) - 1e-15)).to.be.below(threshold);
        }
      }
    }
  });

  it('rises with successes, contains the rate, and widens as alpha decreases', () => {
    for (const trials of [7, 100, 1001]) {
      let [low, high] = [-1, 0];
      for (let successes = 0; successes <= trials; successes++) {
        const [nextLow, nextHigh] = betaBinomialSequence(successes, trials, 0.05);
        expect(nextLow)
          .to.be.above(low)
          .and.at.most(successes / trials);
        expect(nextHigh)
          .to.be.above(high)
          .and.at.least(successes / trials)
          .and.at.most(1);
        [low, high] = [nextLow, nextHigh];
        expect(betaBinomialLower(successes, trials, 0.001)).to.be.at.most(low);
        expect(betaBinomialUpper(successes, trials, 0.001)).to.be.at.least(high);
      }
    }
  });

  it('is mirrored for failures, and each single end equals the end of the pair', () => {
    for (const [successes, trials] of [
      [0, 9],
      [2, 9],
      [30, 100],
      [999_999, 1e6],
    ] as const) {
      const [low, high] = betaBinomialSequence(successes, trials, 0.01);
      expect(high).to.be.closeTo(1 - betaBinomialLower(trials - successes, trials, 0.01), 1e-15);
      expect([low, high]).to.deep.equal([
        betaBinomialLower(successes, trials, 0.01),
        betaBinomialUpper(successes, trials, 0.01),
      ]);
    }
    expect(betaBinomialSequence(1, 2, 0.05)).to.be.frozen;
  });

  it('rejects invalid counts and an alpha outside (0, 1)', () => {
    for (const end of [betaBinomialSequence, betaBinomialLower, betaBinomialUpper]) {
      expect(() => end(1, 2.5, 0.05)).to.throw(ValueError, 'The trials parameter must be a whole number');
      expect(() => end(0, -1, 0.05)).to.throw(ValueError, 'trials');
      expect(() => end(1.5, 3, 0.05)).to.throw(ValueError, 'from 0 to trials = 3. Got 1.5 instead');
      expect(() => end(4, 3, 0.05)).to.throw(ValueError, 'successes');
      expect(() => end(NaN, 3, 0.05)).to.throw(ValueError, 'successes');
      expect(() => end('1' as unknown as number, 3, 0.05)).to.throw(ValueError, 'successes');
      for (const alpha of [0, 1, NaN]) expect(() => end(1, 3, alpha)).to.throw(ValueError, 'alpha');
    }
  });

  it('misses the rate at any of 2,000 checks in at most 5% of streams; an interval for one check misses far more often', () => {
    const random = createRandom(11);
    const streams = 300;
    let [missed, missedByWilson] = [0, 0];
    for (let stream = 0; stream < streams; stream++) {
      const rate = [0.5, 0.1, 0.02][stream % 3] as number;
      let [successes, out, outOfWilson] = [0, false, false];
      for (let trials = 1; trials <= 2000; trials++) {
        successes += Number(random.next() < rate);
        const [low, high] = betaBinomialSequence(successes, trials, 0.05);
        const [lowWilson, highWilson] = wilsonInterval(successes, trials, 0.95);
        out ||= rate < low || rate > high;
        outOfWilson ||= rate < lowWilson || rate > highWilson;
      }
      missed += Number(out);
      missedByWilson += Number(outOfWilson);
    }
    expect(missed / streams).to.be.at.most(0.05);
    expect(missedByWilson / streams).to.be.above(0.3);
  });
});

describe("error of Stirling's formula", () => {
  it('reproduces ln Gamma of the stdlib package to 1e-12', () => {
    for (const x of [0.1, 0.5, 1, 1.5, 2, 7, 15, 15.9, 16, 17, 100, 12_345.5, 1e6, 1e9]) {
      const logGamma = (x + 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + stirlingError(x);
      const expected = gammaln(x + 1);
      expect(Math.abs(logGamma - expected), `x = ${x}`).to.be.at.most(1e-12 * Math.max(1, Math.abs(expected)));
    }
  });

  it('is the same from the table and from the recurrence', () => {
    for (let x = 1; x < 20; x++) expect(stirlingError(x)).to.be.closeTo(stirlingError(x + 1e-13), 1e-13);
  });
});
