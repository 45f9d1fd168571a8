import { expect } from 'chai';

import { binomialProbability } from '../../src/stats/draw-outward.ts';

describe('binomial probability', () => {
  // Exact: C(n, k) a^k (2^b - a)^(n - k) / 2^(b n) in Python 3.11 integers, to 16 digits, for rates a / 2^b that a double holds.
  const exact: [successes: number, trials: number, rate: number, expected: number][] = [
    [3, 20, 5 / 16, 0.05957867752721937],
    [0, 20, 1 / 32, 0.5299492846831235],
    [1500, 2000, 3 / 4, 0.02059757143332068],
    [1450, 2000, 3 / 4, 0.000764244997668785],
    [312_500, 1_000_000, 5 / 16, 0.0008606935957273756],
    [7, 1_000_000, 2 ** -17, 0.1450766332124675],
    [1_000_000, 1_000_000, 1 - 2 ** -20, 0.3853224467661961],
  ];
  for (const [k, n, p, expected] of exact) {
    it(`of ${k} in ${n} at rate ${p} is exact to 1e-13, relatively`, () => {
      expect(binomialProbability(k, n, p) / expected).to.be.closeTo(1, 1e-13);
    });
  }

  for (const n of [1, 2, 15, 16, 17, 40]) {
    it(`of 0 to ${n} in ${n} sums to 1`, () => {
      let sum = 0;
      for (let k = 0; k <= n; k++) sum += binomialProbability(k, n, 0.375);
      expect(sum).to.be.closeTo(1, 1e-13);
    });
  }
});
