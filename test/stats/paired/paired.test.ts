import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { excessDivergence, pairedMean, signFlipTest } from '../../../src/stats/paired/index.ts';

/** Darwin's maize (The Effects of Cross and Self Fertilisation, 1876), as analysed by Fisher. */
const MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];

describe('signFlipTest', () => {
  it("finds Fisher's p-value of Darwin's maize: 1,726 of 32,768 sums are as far from 0", () => {
    // The Design of Experiments, section 21: 863 to one side.
    expect(signFlipTest(MAIZE, { samples: 2 ** 15 })).to.equal(1726 / 32768);
  });

  it('approximates it with random patterns', () => {
    expect(signFlipTest(MAIZE, { samples: 19_999 })).to.be.closeTo(1726 / 32768, 0.006);
  });

  // SciPy 1.17.1: 2 * binom.sf(19, 30, 0.5) and 2 * binom.sf(39, 60, 0.5).
  for (const [positive, negative, expected] of [
    [20, 10, 0.09873714670538905],
    [40, 20, 0.01348929373119186],
  ] as const) {
    it(`of ${positive} differences of 1 and ${negative} of -1 is the binomial tail`, () => {
      const differences = [...Array<number>(positive).fill(1), ...Array<number>(negative).fill(-1)];
      const p = signFlipTest(differences, { samples: 19_999 });
      expect(p).to.be.closeTo(expected, 4 * Math.sqrt((expected * (1 - expected)) / 20_000));
    });
  }

  it('returns the share of all patterns for few differences', () => {
    expect(signFlipTest([1])).to.equal(1);
    expect(signFlipTest([1, 1, 1])).to.equal(2 / 8);
    expect(signFlipTest([0.1, 0.2, 0.3])).to.equal(2 / 8);
    expect(signFlipTest([2, -1])).to.equal(1);
  });

  it('is NaN without differences, and 1 if all differences are 0', () => {
    expect(signFlipTest([])).to.be.NaN;
    expect(signFlipTest(new Float64Array(5))).to.equal(1);
    expect(signFlipTest(new Float64Array(50))).to.equal(1);
  });

  it('does not depend on the order of the halves, and is reproducible by seed', () => {
    const values = Array.from({ length: 40 }, (_, index) => Math.sin(index) + 0.2);
    const negated = values.map((value) => -value);
    expect(signFlipTest(values, { seed: 3 })).to.equal(signFlipTest(negated, { seed: 3 }));
    expect(signFlipTest(values, { seed: 3 })).to.equal(signFlipTest(values, { seed: 3 }));
  });

  it('is at most 0.05 in about one of twenty samples without an effect', () => {
    const random = createRandom(11);
    let called = 0;
    for (let run = 0; run < 1000; run++) {
      const values = Array.from({ length: 25 }, () => random.normal() ** 3);
      if (signFlipTest(values, { samples: 499, seed: run }) <= 0.05) called++;
    }
    // 50 expected; 67 is the 99th percentile of the binomial distribution.
    expect(called).to.be.within(30, 67);
  });

  it('rejects 0 samples', () => {
    expect(() => signFlipTest([1], { samples: 0 })).to.throw(ValueError, 'samples');
  });
});

describe('pairedMean', () => {
  it("is Student's interval without a bound", () => {
    // R: t.test(maize) gives 20.93333, 95% interval 0.03119332 to 41.83547335; statistics.stdev of Python over sqrt(15) is 9.745556578.
    const { value, interval, standardError, degrees } = pairedMean(MAIZE);
    expect(value).to.be.closeTo(20.9333333333, 1e-9);
    expect(standardError).to.be.closeTo(9.745556578, 1e-8);
    expect(interval?.[0]).to.be.closeTo(0.03119, 5e-5);
    expect(interval?.[1]).to.be.closeTo(41.83547, 5e-5);
    expect(degrees).to.equal(14);
  });

  it("is Bonett and Price's interval for yes-or-no answers", () => {
    // n = 20, 6 pairs one way and 2 the other: p12 = 7/22, p21 = 3/22.
    const differences = [...Array<number>(6).fill(1), ...Array<number>(2).fill(-1), ...Array<number>(12).fill(0)];
    const [p12, p21] = [7 / 22, 3 / 22];
    const margin = 1.959963984540054 * Math.sqrt((p12 + p21 - (p12 - p21) ** 2) / 22);
    const { value, interval } = pairedMean(differences, { bound: 1 });
    expect(value).to.equal(0.2);
    expect(interval?.[0]).to.be.closeTo(p12 - p21 - margin, 1e-12);
    expect(interval?.[1]).to.be.closeTo(p12 - p21 + margin, 1e-12);
  });

  it('has an interval of positive width if no pair differs and there is a bound', () => {
    const bounded = pairedMean(new Float64Array(10), { bound: 1 });
    expect(bounded.interval?.[1]).to.be.closeTo(1.959963984540054 * Math.sqrt(2 / 12 / 12), 1e-12);
    expect(pairedMean(new Float64Array(10)).interval).to.equal(null);
    expect(pairedMean([0.1, 0.1, 0.1]).interval).to.equal(null);
  });

  it('is NaN without differences, and has no interval for one difference without a bound', () => {
    expect(pairedMean([]).value).to.be.NaN;
    expect(pairedMean([], { bound: 1 }).interval).to.equal(null);
    expect(pairedMean([0.5])).to.include({ value: 0.5, interval: null });
    expect(pairedMean([1], { bound: 1 }).interval?.[1]).to.be.at.most(1);
  });

  it('adds two pairs with the smallest difference that shares of several answers can have', () => {
    // Ten pairs of shares of 4 answers, none of which differ: the two added pairs differ by 1/4.
    const { interval } = pairedMean(new Float64Array(10), { bound: 1, step: 0.25 });
    expect(interval?.[1]).to.be.closeTo(1.959963984540054 * Math.sqrt((2 * 0.25 ** 2) / 12 / 12), 1e-12);
    expect(() => pairedMean([0], { bound: 1, step: 2 })).to.throw(ValueError, 'step');
    expect(() => pairedMean([0], { step: 1 })).to.throw(ValueError, 'step');
  });

  it('rejects differences beyond the bound', () => {
    expect(() => pairedMean([1.5], { bound: 1 })).to.throw(ValueError, 'from -1 to 1');
    expect(() => pairedMean([NaN], { bound: 1 })).to.throw(ValueError);
    expect(() => pairedMean([1], { level: 1 })).to.throw(ValueError, 'level');
    expect(() => pairedMean([-1.5], { bound: 1 })).to.throw(ValueError, 'from -1 to 1');
    for (const bound of [0, -1, Infinity]) {
      expect(() => pairedMean([0], { bound })).to.throw(ValueError, 'The bound parameter');
    }
    expect(() => pairedMean([0], { bound: 1, step: 0 })).to.throw(ValueError, 'The step parameter');
    // A mean of several answers may be above the bound by a rounding error.
    expect(pairedMean([1 + 1e-12], { bound: 1, step: 1 }).interval?.[1]).to.be.at.most(1);
  });

  it('has an interval within the bound on both sides', () => {
    for (const sign of [-1, 1]) {
      const interval = pairedMean([sign, sign], { bound: 1 }).interval ?? [NaN, NaN];
      // Two pairs and the two added ones: the mean is 1/2, the variance 3/4.
      const end = 0.5 - 1.959963984540054 * Math.sqrt(0.75 / 4);
      expect(Math.min(...interval)).to.be.closeTo(sign === 1 ? end : -1, 1e-12);
      expect(Math.max(...interval)).to.be.closeTo(sign === 1 ? 1 : -end, 1e-12);
    }
  });
});

describe('excessDivergence', () => {
  const table = (values: readonly number[]): number[] =>
    values.flatMap((value) => values.map((other) => Math.abs(value - other)));

  it('is the mean distance between groups minus the mean distance within groups', () => {
    // Between: |0-3|, |0-5|, |1-3|, |1-5| = 14/4; within 1 and 2, so 1.5.
    const result = excessDivergence([{ first: 2, second: 2, distances: table([0, 1, 3, 5]) }]);
    expect(result).to.deep.include({ between: 3.5, within: 1.5, excess: 2, excesses: [2] });
  });

  it('weighs the distances within both groups equally, also for groups of different sizes', () => {
    // Between 0, 1 and 3, 5, 9: (3 + 5 + 9 + 2 + 4 + 8) / 6; within 1 and (2 + 6 + 4) / 3.
    const { between, within, excess } = excessDivergence([{ first: 2, second: 3, distances: table([0, 1, 3, 5, 9]) }]);
    expect(between).to.be.closeTo(31 / 6, 1e-12);
    expect(within).to.be.closeTo(2.5, 1e-12);
    expect(excess).to.be.closeTo(31 / 6 - 2.5, 1e-12);
  });

  it('has the mean and the quantile of all permutations', () => {
    // Two of six assignments of 0, 1, 3, 5 have the excess 2, the others 2.5 - 3.5 = -1.
    const unit = { first: 2, second: 2, distances: table([0, 1, 3, 5]) };
    const one = excessDivergence([unit], { samples: 20_000 });
    expect(one.nullMean).to.be.closeTo(0, 4 * Math.sqrt(2 / 20_000));
    expect(one.nullQuantile).to.be.closeTo(2, 1e-12);
    // The mean of two units is 2 with the probability 1/9, 0.5 with 4/9 and -1 with 4/9.
    const two = excessDivergence([unit, unit], { samples: 20_000 });
    expect(two).to.deep.include({ between: 3.5, within: 1.5, excess: 2, excesses: [2, 2] });
    expect(two.nullMean).to.be.closeTo(0, 4 * Math.sqrt(1 / 20_000));
    expect(two.nullQuantile).to.be.closeTo(2, 1e-12);
  });

  it('has a mean of 0 over permutations of many answers, and a p-value of 1 for the smallest excess', () => {
    const values = Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 0 : 1));
    // Each group has four of eight answers of each kind: between 1/2, within 4/7.
    const { excess, nullMean, pValue } = excessDivergence([{ first: 8, second: 8, distances: table(values) }]);
    expect(excess).to.be.closeTo(1 / 2 - 4 / 7, 1e-12);
    expect(nullMean).to.be.closeTo(0, 0.01);
    expect(pValue).to.equal(1);
  });

  it('counts the permutations: two of six assignments of four answers give the largest excess', () => {
    const unit = { first: 2, second: 2, distances: table([0, 1, 3, 5]) };
    expect(excessDivergence([unit], { samples: 20_000 }).pValue).to.be.closeTo(1 / 3, 0.02);
    expect(excessDivergence([unit, unit], { samples: 20_000 }).pValue).to.be.closeTo(1 / 9, 0.015);
  });

  it('has no excess if all answers are alike', () => {
    const unit = { first: 3, second: 3, distances: new Float64Array(36) };
    expect(excessDivergence([unit])).to.include({ excess: 0, pValue: 1 });
  });

  it('agrees for random permutations of many answers', () => {
    const random = createRandom(5);
    const values = Array.from({ length: 20 }, (_, index) => random.normal() + (index < 10 ? 0 : 3));
    expect(excessDivergence([{ first: 10, second: 10, distances: table(values) }]).pValue).to.be.below(0.002);
  });

  it('is at most 0.05 in about one of twenty samples without an effect, even for groups of different sizes', () => {
    const random = createRandom(21);
    let called = 0;
    for (let run = 0; run < 1000; run++) {
      const units = Array.from({ length: 10 }, () => ({
        first: 2,
        second: 3,
        distances: table(Array.from({ length: 5 }, () => random.normal())),
      }));
      if (excessDivergence(units, { samples: 499, seed: run }).pValue <= 0.05) called++;
    }
    expect(called).to.be.within(30, 67);
  });

  it('is NaN without units', () => {
    expect(excessDivergence([]).excess).to.be.NaN;
    expect(excessDivergence([]).pValue).to.be.NaN;
  });

  it('rejects a unit with one answer, or with a table of the wrong size', () => {
    expect(() => excessDivergence([{ first: 1, second: 2, distances: table([1, 2, 3]) }])).to.throw(
      ValueError,
      'units[0]',
    );
    expect(() => excessDivergence([{ first: 2, second: 2, distances: [0] }])).to.throw(ValueError, '1 distances');
  });
});
