import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { betaBinomialInterval } from '../../src/stats/index.ts';

describe('beta-binomial interval', () => {
  // scipy 1.17.1: beta(a + k, b + n - k).ppf((1 - level) / 2) and .isf((1 - level) / 2)
  const cases: [k: number, n: number, prior: [number, number], level: number, low: number, high: number][] = [
    [0, 10, [1, 1], 0.95, 0.002298972213814269, 0.28491415291815436],
    [3, 10, [1, 1], 0.95, 0.10926344381909814, 0.6097425595724212],
    [10, 10, [1, 1], 0.95, 0.7150858470818456, 0.9977010277861857],
    [3, 10, [0.5, 0.5], 0.95, 0.09269459393815317, 0.6058183181486713],
    [81, 263, [1, 1], 0.9, 0.2636347063476948, 0.356871623717433],
    [2.5, 7.5, [2, 3], 0.8, 0.19450212094705194, 0.536204673773157],
    [0, 1_000_000, [1, 1], 0.95, 2.5317782346012174e-8, 3.6888689613443307e-6],
    [300_000, 1_000_000, [0.5, 0.5], 0.99, 0.2988205600783646, 0.30118134255587314],
    [0, 50, [0.01, 0.01], 0.95, 7.114260609626238e-163, 0.000951523588755726],
  ];
  for (const [k, n, prior, level, low, high] of cases) {
    it(`of ${k} in ${n}, prior ${prior.join(', ')}, at ${level} equals scipy's`, () => {
      const interval = betaBinomialInterval(k, n, { prior, level });
      expect(interval[0] / low).to.be.closeTo(1, 1e-9);
      expect(interval[1] / high).to.be.closeTo(1, 1e-9);
    });
  }

  it('of 0 in n with a flat prior has the closed-form end: 1 - alpha^(1 / (n + 1))', () => {
    expect(betaBinomialInterval(0, 20)[1]).to.be.closeTo(1 - 0.025 ** (1 / 21), 1e-12);
  });

  it('is mirrored if successes and failures are swapped', () => {
    const [low, high] = betaBinomialInterval(7, 30, { prior: [1, 2] });
    const [mirrorLow, mirrorHigh] = betaBinomialInterval(23, 30, { prior: [2, 1] });
    expect(mirrorLow).to.be.closeTo(1 - high, 1e-12);
    expect(mirrorHigh).to.be.closeTo(1 - low, 1e-12);
  });

  it('of no trials is undefined', () => {
    expect(betaBinomialInterval(0, 0)).to.deep.equal([NaN, NaN]);
  });

  for (const [parameter, call] of [
    ['successes', () => betaBinomialInterval(-1, 10)],
    ['successes', () => betaBinomialInterval(11, 10)],
    ['successes', () => betaBinomialInterval(NaN, 10)],
    ['trials', () => betaBinomialInterval(0, -1)],
    ['trials', () => betaBinomialInterval(0, Infinity)],
    ['level', () => betaBinomialInterval(1, 10, { level: 1 })],
    ['level', () => betaBinomialInterval(1, 10, { level: 0 })],
    ['prior', () => betaBinomialInterval(1, 10, { prior: [0, 1] })],
    ['prior', () => betaBinomialInterval(1, 10, { prior: [1, NaN] })],
  ] as const) {
    it(`rejects a bad ${parameter}: ${call.toString().slice(6)}`, () => {
      expect(call).to.throw(ValueError, new RegExp(`^The ${parameter} parameter must be .* Got .* instead\\.$`));
    });
  }
});
