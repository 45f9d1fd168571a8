import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom, type Random } from '../../../src/internal/random.ts';
import {
  empiricalBernsteinSequence,
  gammaExponentialMixtureBound,
  msprt,
  normalMixtureBound,
  subGaussianSequence,
} from '../../../src/stats/sequential/index.ts';

/** Checks at every value up to 300, then after each increase by a hundredth. */
const CHECKS = new Set<number>();
for (let look = 1; look <= 3000; look = Math.max(look + 1, Math.floor(look * 1.01 - 2))) CHECKS.add(look);

/** A stream of values in [0, 1] with its mean. */
interface Stream {
  readonly mean: number;
  readonly draw: (random: Random) => number;
}

const STREAMS: readonly Stream[] = [
  { mean: 0.1, draw: (random) => Number(random.next() < 0.1) },
  { mean: 0.5, draw: (random) => Number(random.next() < 0.5) },
  { mean: 0.25, draw: (random) => random.next() ** 3 },
  { mean: 0.9, draw: (random) => 1 - 0.2 * random.next() },
];

describe('empirical Bernstein sequence', () => {
  it('misses the mean at any check in at most 10 of 200 streams; an interval for one check misses in more than 60', () => {
    const random = createRandom(5);
    let [missed, missedByNormal] = [0, 0];
    for (let stream = 0; stream < 200; stream++) {
      const { mean, draw } = STREAMS[stream % STREAMS.length] as Stream;
      let [sum, squares, predictableVariance, out, outOfNormal] = [0, 0, 0, false, false];
      for (let n = 1; n <= 3000; n++) {
        const value = draw(random);
        predictableVariance += (value - (n === 1 ? 0.5 : sum / (n - 1))) ** 2;
        sum += value;
        squares += value * value;
        if (!CHECKS.has(n)) continue;
        const [low, high] = empiricalBernsteinSequence({ n, mean: sum / n, predictableVariance }, 0.05);
        out ||= mean < low || mean > high;
        const half = 1.96 * Math.sqrt(Math.max(0, squares / n - (sum / n) ** 2) / n);
        outOfNormal ||= n >= 30 && Math.abs(sum / n - mean) > half;
      }
      missed += Number(out);
      missedByNormal += Number(outOfNormal);
    }
    expect(missed).to.be.at.most(10);
    expect(missedByNormal).to.be.above(60);
  });

  it('is the mean ± the gamma-exponential boundary of scale 1 at alpha / 2, divided by n', () => {
    const [low, high] = empiricalBernsteinSequence({ n: 500, mean: 0.4, predictableVariance: 30 }, 0.05, { vOpt: 25 });
    // confseq's compiled source has 18.4359854620311 for v = 25 at 0.025, tuned for the same.
    expect(gammaExponentialMixtureBound(25, 0.025, { vOpt: 25, c: 1, alphaOpt: 0.025 })).to.be.closeTo(
      18.4359854620311,
      1e-9,
    );
    const half = gammaExponentialMixtureBound(30, 0.025, { vOpt: 25, c: 1, alphaOpt: 0.025 }) / 500;
    expect([low, high]).to.deep.equal([0.4 - half, 0.4 + half]);
  });

  it('narrows with the variance, and works for one value', () => {
    const width = (predictableVariance: number) => {
      const [low, high] = empiricalBernsteinSequence({ n: 1000, mean: 0.5, predictableVariance }, 0.05);
      return high - low;
    };
    expect(width(0)).to.be.below(width(10));
    expect(width(10)).to.be.below(width(250) / 2);
    expect(empiricalBernsteinSequence({ n: 0, mean: NaN, predictableVariance: 0 }, 0.05)).to.deep.equal([0, 1]);
    expect(empiricalBernsteinSequence({ n: 1, mean: 0.3, predictableVariance: 0.04 }, 0.05)).to.deep.equal([0, 1]);
    // Each prediction was wrong by 1, the most that values in [0, 1] allow.
    expect(empiricalBernsteinSequence({ n: 2, mean: 0.5, predictableVariance: 2 }, 0.05)).to.deep.equal([0, 1]);
  });

  it('says which number is out of range', () => {
    const sequence =
      (n: number, mean: number, predictableVariance: number, alpha = 0.05, vOpt = 10) =>
      () =>
        empiricalBernsteinSequence({ n, mean, predictableVariance }, alpha, { vOpt });
    expect(sequence(1.5, 0.5, 0)).to.throw(ValueError, 'The n parameter');
    expect(sequence(2, 1.5, 0)).to.throw(ValueError, 'mean');
    expect(sequence(2, NaN, 0)).to.throw(ValueError, 'mean');
    expect(sequence(2, 0.5, -1)).to.throw(ValueError, 'predictableVariance');
    expect(sequence(2, 0.5, 3)).to.throw(ValueError, 'The predictableVariance parameter must be at most n = 2');
    expect(sequence(2, 0.5, 1, 0)).to.throw(ValueError, 'alpha');
    expect(sequence(2, 0.5, 1, 0.05, 0)).to.throw(ValueError, 'vOpt');
  });
});

describe('sub-Gaussian sequence of a weighted rate', () => {
  it('misses the rate at any check in at most 10 of 200 streams with weights from 0.2 to 3', () => {
    const random = createRandom(8);
    let [missed, missedByNormal] = [0, 0];
    for (let stream = 0; stream < 200; stream++) {
      const rate = stream % 2 === 0 ? 0.5 : 0.3;
      let [sumW, sumWD, sumW2, out, outOfNormal] = [0, 0, 0, false, false];
      for (let n = 1; n <= 3000; n++) {
        const weight = 0.2 + 2.8 * random.next();
        sumW += weight;
        sumW2 += weight * weight;
        if (random.next() < rate) sumWD += weight;
        const [low, high] = subGaussianSequence({ sumW, sumWD, sumW2 }, 0.05);
        out ||= rate < low || rate > high;
        outOfNormal ||= n >= 30 && Math.abs(sumWD / sumW - rate) > (1.96 * Math.sqrt(sumW2 * rate * (1 - rate))) / sumW;
      }
      missed += Number(out);
      missedByNormal += Number(outOfNormal);
    }
    expect(missed).to.be.at.most(10);
    expect(missedByNormal).to.be.above(60);
  });

  it('is the rate ± the two-sided normal boundary at sum w^2 / 4, divided by sum w', () => {
    const [low, high] = subGaussianSequence({ sumW: 200, sumWD: 80, sumW2: 400 }, 0.05, { vOpt: 100 });
    // confseq's unit tests: 30.35209 at v = 100, tuned for it.
    expect(low).to.be.closeTo(0.4 - 30.35209 / 200, 1e-7);
    expect(high).to.be.closeTo(0.4 + 30.35209 / 200, 1e-7);
  });

  it('does not depend on the unit of the weights, if vOpt has the same unit', () => {
    const one = subGaussianSequence({ sumW: 1000, sumWD: 300, sumW2: 1100 }, 0.05, { vOpt: 250 });
    const other = subGaussianSequence({ sumW: 5000, sumWD: 1500, sumW2: 25 * 1100 }, 0.05, { vOpt: 25 * 250 });
    expect(one[0]).to.be.closeTo(other[0], 1e-14);
    expect(one[1]).to.be.closeTo(other[1], 1e-14);
  });

  it('is [0, 1] without weights, and names a number that is out of range', () => {
    expect(subGaussianSequence({ sumW: 0, sumWD: 0, sumW2: 0 }, 0.05)).to.deep.equal([0, 1]);
    expect(() => subGaussianSequence({ sumW: 1, sumWD: 2, sumW2: 1 }, 0.05)).to.throw(ValueError, 'sumWD');
    expect(() => subGaussianSequence({ sumW: 1, sumWD: 1, sumW2: 0 }, 0.05)).to.throw(ValueError, 'sumW2');
    expect(() => subGaussianSequence({ sumW: 1, sumWD: 1, sumW2: -1 }, 0.05)).to.throw(
      ValueError,
      'The sumW2 parameter',
    );
    expect(() => subGaussianSequence({ sumW: NaN, sumWD: 1, sumW2: 1 }, 0.05)).to.throw(ValueError, 'sumW');
    expect(() => subGaussianSequence({ sumW: 1, sumWD: 1, sumW2: 1 }, 1)).to.throw(ValueError, 'alpha');
    expect(() => subGaussianSequence({ sumW: 1, sumWD: 1, sumW2: 1 }, 0.5, { vOpt: -1 })).to.throw(ValueError);
  });
});

/** Simpson's rule. */
function integral(integrand: (x: number) => number, from: number, to: number, pieces = 20_000): number {
  const step = (to - from) / pieces;
  let sum = integrand(from) + integrand(to);
  for (let piece = 1; piece < pieces; piece++) sum += (piece % 2 === 1 ? 4 : 2) * integrand(from + piece * step);
  return (sum * step) / 3;
}

const density = (x: number, deviation: number) =>
  Math.exp(-((x / deviation) ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI));

describe('mixture sequential probability ratio test', () => {
  for (const [estimate, standardError, tau, nullEffect] of [
    [0.0875, 0.0493, 0.05, 0],
    [-0.3, 0.1, 0.2, 0],
    [0.02, 0.005, 0.5, 0.01],
    [0, 1, 1, 0],
    [4, 0.7, 0.05, 1],
  ] as const) {
    it(`of ${estimate} ± ${standardError} is the likelihood averaged over N(${nullEffect}, ${tau}^2)`, () => {
      const far = 12 * Math.min(tau, standardError);
      // The mass of the mixture lies around the posterior mean.
      const centre = (estimate - nullEffect) * (tau ** 2 / (tau ** 2 + standardError ** 2));
      const mixture = (effect: number) => density(estimate - nullEffect - effect, standardError) * density(effect, tau);
      const expected = integral(mixture, centre - far, centre + far) / density(estimate - nullEffect, standardError);
      const { likelihoodRatio, pValue } = msprt({ estimate, standardError, tau, nullEffect, alpha: 0.05 });
      expect(likelihoodRatio / expected).to.be.closeTo(1, 1e-9);
      expect(pValue).to.be.closeTo(Math.min(1, 1 / expected), 1e-9);
    });
  }

  it('has sqrt(V / (V + n tau^2)) exp(n^2 tau^2 d^2 / (2 V (V + n tau^2))) for a mean of n values of variance V', () => {
    const [n, variance, tau, mean] = [250, 0.3, 0.07, 0.11];
    const total = variance + n * tau ** 2;
    const expected = Math.sqrt(variance / total) * Math.exp((n ** 2 * tau ** 2 * mean ** 2) / (2 * variance * total));
    const found = msprt({ estimate: mean, standardError: Math.sqrt(variance / n), tau, alpha: 0.05 }).likelihoodRatio;
    expect(found).to.be.closeTo(expected, 1e-12 * expected);
  });

  it('rejects an effect exactly if the interval excludes it', () => {
    const input = { estimate: 0.2, standardError: 0.06, tau: 0.1, alpha: 0.01 };
    for (const nullEffect of msprt(input).interval) {
      expect(msprt({ ...input, nullEffect }).likelihoodRatio).to.be.closeTo(100, 1e-9);
      expect(msprt({ ...input, nullEffect }).pValue).to.be.closeTo(0.01, 1e-12);
    }
  });

  it('is the two-sided normal mixture boundary with another tuning', () => {
    // At v = 1 / s^2 the score is d / s^2 and rho = 1 / tau^2; vOpt is chosen to give this tuning.
    const [standardError, tau, alpha] = [0.06, 0.1, 0.05];
    const twice = 2 * Math.log(1 / alpha);
    const vOpt = (twice + Math.log(1 + twice)) / tau ** 2;
    const bound = normalMixtureBound(1 / standardError ** 2, alpha, { vOpt, alphaOpt: alpha, oneSided: false });
    const [low, high] = msprt({ estimate: 0, standardError, tau, alpha }).interval;
    expect(high).to.be.closeTo(bound * standardError ** 2, 1e-12);
    expect(low).to.equal(-high);
  });

  it('rejects at any of 1,000 checks in at most 5% of streams without an effect; a z test rejects far more often', () => {
    const random = createRandom(21);
    let [rejected, rejectedByZ] = [0, 0];
    for (let stream = 0; stream < 400; stream++) {
      let [sum, out, outOfZ] = [0, false, false];
      for (let n = 1; n <= 1000; n++) {
        sum += random.normal();
        const standardError = 1 / Math.sqrt(n);
        out ||= msprt({ estimate: sum / n, standardError, tau: 0.1, alpha: 0.05 }).pValue <= 0.05;
        outOfZ ||= Math.abs(sum / Math.sqrt(n)) > 1.96;
      }
      rejected += Number(out);
      rejectedByZ += Number(outOfZ);
    }
    expect(rejected / 400).to.be.at.most(0.05);
    expect(rejectedByZ / 400).to.be.above(0.3);
  });

  it('is frozen, includes its tuning, and overflows to Infinity, never to NaN', () => {
    const result = msprt({ estimate: 1e6, standardError: 1e-6, tau: 1, alpha: 0.05 });
    expect(result).to.be.frozen.and.to.include({
      likelihoodRatio: Infinity,
      pValue: 0,
      tau: 1,
      alpha: 0.05,
      nullEffect: 0,
    });
    expect(result.interval.every(Number.isFinite)).to.equal(true);
  });

  it('says which number is out of range', () => {
    const input = { estimate: 0, standardError: 1, tau: 1, alpha: 0.05 };
    expect(() => msprt({ ...input, estimate: NaN })).to.throw(ValueError, 'estimate');
    expect(() => msprt({ ...input, standardError: 0 })).to.throw(ValueError, 'standardError');
    expect(() => msprt({ ...input, tau: -1 })).to.throw(ValueError, 'tau');
    expect(() => msprt({ ...input, alpha: 1 })).to.throw(ValueError, 'alpha');
    expect(() => msprt({ ...input, nullEffect: Infinity })).to.throw(ValueError, 'nullEffect');
  });
});
