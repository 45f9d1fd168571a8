import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import { bootstrapCi } from '../../src/stats/index.ts';

const HUNDRED = Array.from({ length: 100 }, (_, index) => index);
const FIBONACCI = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardDeviation(values: Float64Array): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

const METHODS = ['percentile', 'bca'] as const;

describe('bootstrap interval', () => {
  it('BCa of the mean of 0 to 99 is about 44.0 to 55.3', () => {
    const [low, high] = bootstrapCi(HUNDRED, mean, { method: 'bca' });
    expect(low).to.be.closeTo(44, 0.5);
    expect(high).to.be.closeTo(55.3, 0.5);
  });

  // scipy 1.17.1: stats.bootstrap((x,), statistic, n_resamples=400000, method=..., rng=default_rng(1))
  const cases: [
    title: string,
    sample: number[],
    statistic: (values: Float64Array) => number,
    method: 'percentile' | 'bca',
    level: number,
    expected: [number, number],
  ][] = [
    ['the mean of 0 to 99', HUNDRED, mean, 'percentile', 0.95, [43.84, 55.18]],
    ['the mean of 0 to 99', HUNDRED, mean, 'bca', 0.95, [43.84, 55.17]],
    ['the mean of a skewed sample', FIBONACCI, mean, 'percentile', 0.9, [10, 38.4]],
    ['the mean of a skewed sample', FIBONACCI, mean, 'bca', 0.9, [11.9, 42.5]],
    ['the standard deviation of it', FIBONACCI, standardDeviation, 'percentile', 0.9, [9.99, 35.59]],
    ['the standard deviation of it', FIBONACCI, standardDeviation, 'bca', 0.9, [16.04, 39.55]],
  ];
  for (const [title, sample, statistic, method, level, [low, high]] of cases) {
    it(`${method}, of ${title}, agrees with scipy's with many replicates`, () => {
      const interval = bootstrapCi(sample, statistic, { method, level, samples: 40_000 });
      expect(interval[0]).to.be.closeTo(low, 0.2);
      expect(interval[1]).to.be.closeTo(high, 0.4);
    });
  }

  it('by default is the percentile interval of 2000 replicates at 95%, seed 42', () => {
    expect(bootstrapCi(HUNDRED, mean)).to.deep.equal(
      bootstrapCi(HUNDRED, mean, { samples: 2000, level: 0.95, method: 'percentile', seed: 42 }),
    );
  });

  for (const method of METHODS) {
    describe(method, () => {
      it('is the same for the same seed, and differs for another', () => {
        const run = (seed: number) => bootstrapCi(FIBONACCI, mean, { method, seed, samples: 200 });
        expect(run(7)).to.deep.equal(run(7));
        expect(run(7)).to.not.deep.equal(run(8));
      });

      it('does not change the sample, even if the statistic sorts its values', () => {
        const sample = Float64Array.of(3, 1, 2);
        const statistic = (values: Float64Array) => values.sort()[1] as number;
        const interval = bootstrapCi(sample, statistic, { method, samples: 500 });
        expect(Array.from(sample)).to.deep.equal([3, 1, 2]);
        expect(interval[0]).to.equal(1);
        expect(interval[1]).to.equal(3);
      });

      it('of a constant sample, and of one value, is that value', () => {
        expect(bootstrapCi([4, 4, 4], mean, { method, samples: 50 })).to.deep.equal([4, 4]);
        expect(bootstrapCi([4], mean, { method, samples: 50 })).to.deep.equal([4, 4]);
      });

      it('of a maximum, which no replicate exceeds, ends at the maximum', () => {
        const maximum = (values: Float64Array) => Math.max(...values);
        const [low, high] = bootstrapCi(FIBONACCI, maximum, { method, samples: 500 });
        expect(high).to.equal(89);
        expect(low).to.be.within(13, 89);
      });

      it('of a statistic above all replicates is still within the replicates', () => {
        // All twenty values occur in one replicate of 20^20 / 20! = 4e7, so the number of values drawn is below 20.
        const distinct = (values: Float64Array) => new Set(values).size;
        const twenty = Array.from({ length: 20 }, (_, index) => index);
        const [low, high] = bootstrapCi(twenty, distinct, { method, samples: 300 });
        expect(low).to.be.within(5, 19);
        expect(high).to.be.within(low, 19);
      });

      it('is undefined if the sample is empty or the statistic is undefined', () => {
        expect(bootstrapCi([], () => 0, { method })).to.deep.equal([NaN, NaN]);
        expect(bootstrapCi([1, NaN, 3], mean, { method, samples: 10 })).to.deep.equal([NaN, NaN]);
        expect(bootstrapCi([1, 2, 3], () => NaN, { method, samples: 10 })).to.deep.equal([NaN, NaN]);
      });

      it('is undefined if the statistic of a replicate is undefined', () => {
        const logVariance = (values: Float64Array) => {
          const spread = standardDeviation(values);
          return spread === 0 ? NaN : Math.log(spread);
        };
        expect(bootstrapCi([1, 2, 3], logVariance, { method, samples: 500 })).to.deep.equal([NaN, NaN]);
      });

      it('keeps an infinite end infinite', () => {
        const odds = (values: Float64Array) => mean(values) / (1 - mean(values));
        const [low, high] = bootstrapCi([0, 0, 1, 1], odds, { method, samples: 1000 });
        expect(low).to.equal(0);
        expect(high).to.equal(Infinity);
      });

      it('covers the mean of a normal sample about as often as its level', () => {
        const random = createRandom(29);
        let held = 0;
        for (let run = 0; run < 200; run++) {
          const sample = Float64Array.from({ length: 40 }, () => random.normal());
          const [low, high] = bootstrapCi(sample, mean, { method, level: 0.9, samples: 300, seed: run });
          held += Number(low <= 0 && 0 <= high);
        }
        expect(held / 200).to.be.within(0.82, 0.96);
      });
    });
  }

  it('BCa evaluates the jackknife once for each distinct value', () => {
    let calls = 0;
    const sample = Array.from({ length: 1000 }, (_, index) => Number(index % 3 === 0));
    const counting = (values: Float64Array) => {
      calls++;
      return mean(values);
    };
    bootstrapCi(sample, counting, { method: 'bca', samples: 10 });
    expect(calls).to.equal(1 + 10 + 2);
  });

  it('BCa without a jackknife (the statistic needs every value) is the bias-corrected interval', () => {
    const complete = (values: Float64Array) => (values.length < FIBONACCI.length ? NaN : mean(values));
    const [low, high] = bootstrapCi(FIBONACCI, complete, { method: 'bca', samples: 2000 });
    expect(low).to.be.within(5, 23.1);
    expect(high).to.be.within(23.1, 60);
  });

  for (const [parameter, options] of [
    ['samples', { samples: 0 }],
    ['samples', { samples: 1.5 }],
    ['level', { level: 1 }],
    ['level', { level: NaN }],
    ['seed', { seed: 0.5 }],
    ['method', { method: 'bcca' as 'bca' }],
  ] as const) {
    it(`rejects a ${parameter} of ${JSON.stringify(Object.values(options)[0])}`, () => {
      expect(() => bootstrapCi(HUNDRED, mean, options)).to.throw(
        ValueError,
        new RegExp(`^The ${parameter} parameter must be .* Got .* instead\\.$`),
      );
    });
  }
});
