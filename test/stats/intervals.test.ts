import tQuantile from '@stdlib/stats-base-dists-t-quantile';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { createBinomialSampler } from '../../src/stats/binomial-sampler.ts';
import { gapIntervals, rankedCritical } from '../../src/stats/gap-interval.ts';
import { wilsonInterval } from '../../src/stats/index.ts';
import { quantileSorted } from '../../src/stats/quantile.ts';
import { estimateRates } from '../../src/stats/rate-family.ts';

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

  it('of no values is NaN', () => {
    expect(quantileSorted([], 0.5)).to.be.NaN;
  });

  it('of infinite values is infinite between two of them, and finite at the position of a finite value', () => {
    // Hyndman and Fan (1996): at the probability k / (n - 1), the quantile of type 7 is the order statistic k + 1. Between
    // two order statistics, it lies between them.
    expect(quantileSorted([1, 2, Infinity], 0.5)).to.equal(2);
    expect(quantileSorted([1, Infinity, Infinity], 0.75)).to.equal(Infinity);
  });
});

describe('Wilson interval', () => {
  // Closed form: (k + z^2/2 ± z sqrt(k (n - k)/n + z^2/4)) / (n + z^2) with z = 1.959963984540054, worked by hand.
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

  it('of no trials is [0, 1]', () => {
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
  type Families = Parameters<typeof gapIntervals>[0];
  type Family = Families[number];
  const rates = (successes: number[], trials: number[]): Family => ({ kind: 'rates', successes, trials });
  const logRates = (successes: number[], trials: number[]): Family => ({ kind: 'log-rates', successes, trials });

  function intervalOf(family: Family, { level = 0.95, samples = 1000, seed = 1 } = {}) {
    const { intervals, pValue } = gapIntervals([family], { level, samples, random: createRandom(seed) });
    const [low, high] = intervals[0] ?? [NaN, NaN];
    return { low, high, pValue };
  }

  /** Returns how often the interval contains the true gap, over simulated families. */
  function coverage(gap: number, runs: number, samples: number, draw: () => Family): number {
    let held = 0;
    for (let run = 0; run < runs; run++) {
      const { low, high } = intervalOf(draw(), { samples, seed: run });
      held += Number(low <= gap && gap <= high);
    }
    return held / runs;
  }

  function drawRates(truth: readonly number[], n: number): () => Family {
    const random = createRandom(11);
    const samplers = truth.map((rate) => createBinomialSampler(n, rate, random));
    return () =>
      rates(
        samplers.map((draw) => draw()),
        truth.map(() => n),
      );
  }

  describe('coverage (npm run study:coverage runs the complete study)', () => {
    it('covers 0 if all groups are equal, at about its level or more', () => {
      expect(coverage(0, 400, 200, drawRates([0.3, 0.3, 0.3, 0.3], 150))).to.be.at.least(0.92);
    });

    it('covers a true gap, at about its level or more', () => {
      expect(coverage(0.3, 400, 200, drawRates([0.2, 0.35, 0.5], 150))).to.be.at.least(0.92);
    });

    it('covers equal log-normal means of 40 and 2,000 values, for which Welch covers 0.88', () => {
      const random = createRandom(12);
      const sizes = [40, 2000];
      const draw = (): Family => {
        const groups = sizes.map((n) => momentsOf(Array.from({ length: n }, () => Math.exp(random.normal() - 0.5))));
        return {
          kind: 'means',
          means: groups.map(({ mean }) => mean),
          standardErrors: groups.map(({ standardError }) => standardError),
          skewness: groups.map(({ skewness }) => skewness),
          sizes,
        };
      };
      expect(coverage(0, 400, 400, draw)).to.be.at.least(0.93);
    });
  });

  describe('closed forms', () => {
    it('two rates of many rows: Agresti and Caffo with the normal quantile', () => {
      const { low, high } = intervalOf(rates([4000, 3000], [10_000, 10_000]), { samples: 20_000 });
      const [p1, p2] = [4001 / 10_002, 3001 / 10_002];
      const half = 1.959964 * Math.sqrt((p1 * (1 - p1) + p2 * (1 - p2)) / 10_002);
      expect(low).to.be.closeTo(p1 - p2 - half, 5e-4);
      expect(high).to.be.closeTo(p1 - p2 + half, 5e-4);
    });

    it('two log rates of many rows: the logarithm of the risk ratio, variance 1/k - 1/n in each group', () => {
      const { low, high } = intervalOf(logRates([4000, 3000], [10_000, 10_000]), { samples: 20_000 });
      const half = 1.959964 * Math.sqrt(1 / 4000 + 1 / 3000 - 2 / 10_000);
      expect(low).to.be.closeTo(Math.log(4 / 3) - half, 1e-3);
      expect(high).to.be.closeTo(Math.log(4 / 3) + half, 1e-3);
    });

    // With 9 trials or fewer, and with millions, the counts are drawn from normal distributions.
    for (const [title, successes, trials] of [
      ['of 9 trials', [1, 8], [9, 9]],
      ['of 5 trials and of a thousand', [1, 800], [5, 1000]],
      ['of a million trials', [303_000, 300_000], [1_000_000, 1_000_000]],
      ['of a thousand trials and of a million', [300, 400_000], [1000, 1_000_000]],
      ['of one trial and of so many that the rate rounds to 1', [0, 1e17], [1, 1e17]],
    ] as const) {
      it(`two rates ${title}: Agresti and Caffo with the normal quantile`, () => {
        const { low, high } = intervalOf(rates([...successes], [...trials]), { samples: 20_000 });
        const [p1, p2] = [(successes[0] + 1) / (trials[0] + 2), (successes[1] + 1) / (trials[1] + 2)];
        const half = 1.959964 * Math.sqrt((p1 * (1 - p1)) / (trials[0] + 2) + (p2 * (1 - p2)) / (trials[1] + 2));
        // The critical value of 20,000 replicates has a standard error of 0.7%.
        expect(low).to.be.closeTo(Math.abs(p1 - p2) - half, 0.03 * half);
        expect(high).to.be.closeTo(Math.min(1, Math.abs(p1 - p2) + half), 0.03 * half);
      });
    }

    it('the centres and variances are those of Agresti and Caffo, and of the logarithm with half a count added', () => {
      const trials = [20, 50.5];
      const successes = [3, 40.25];
      const difference = estimateRates({ kind: 'rates', successes, trials }, createRandom(1));
      // (k + 1) / (n + 2), and p (1 - p) / (n + 2).
      expect(difference.centres[0]).to.be.closeTo(4 / 22, 1e-15);
      expect(difference.centres[1]).to.be.closeTo(41.25 / 52.5, 1e-15);
      expect(difference.variances[0]).to.be.closeTo((4 * 18) / 22 ** 3, 1e-15);
      const ratio = estimateRates({ kind: 'log-rates', successes, trials }, createRandom(1));
      // ln((k + 1/2) / (n + 1)), with the variance 1 / (k + 1/2) - 1 / (n + 1).
      expect(ratio.centres[0]).to.be.closeTo(Math.log(3.5 / 21), 1e-15);
      expect(ratio.centres[1]).to.be.closeTo(Math.log(40.75 / 51.5), 1e-15);
      expect(ratio.variances[0]).to.be.closeTo(1 / 3.5 - 1 / 21, 1e-15);
      expect(ratio.variances[1]).to.be.closeTo(1 / 40.75 - 1 / 51.5, 1e-15);
    });

    // R: qtukey(0.95, K, Inf) / sqrt(2), the quantile of the largest of all pairs of equal standard errors.
    for (const [groups, expected] of [
      [2, 1.96],
      [3, 2.3437],
      [5, 2.7278],
      [8, 3.0309],
    ] as const) {
      it(`means of ${groups} groups with known errors: Tukey's studentised range, ${expected}`, () => {
        const means = Array.from({ length: groups }, (_, group) => (group === 0 ? 10 : 0));
        const standardErrors = means.map(() => Math.SQRT1_2);
        const { low, high } = intervalOf({ kind: 'means', means, standardErrors }, { samples: 40_000 });
        expect(high - 10).to.be.closeTo(expected, 0.03);
        expect(10 - low).to.be.closeTo(expected, 0.03);
      });
    }

    it('of two independent families: Šidák (1967), z at (1 + sqrt(0.95)) / 2 is 2.2365', () => {
      const errors: Family = { kind: 'means', means: [0, 10], standardErrors: [0.6, 0.8] };
      const [tabled, many] = [rates([4000, 3000], [10_000, 10_000]), rates([4e6, 3e6], [1e7, 1e7])];
      for (const families of [
        [errors, tabled],
        [tabled, errors],
        [tabled, tabled],
        [tabled, many],
      ]) {
        const { intervals } = gapIntervals(families, { level: 0.95, samples: 20_000, random: createRandom(3) });
        families.forEach((family, index) => {
          const [low, high] = intervals[index] ?? [NaN, NaN];
          const [gap, error] =
            family === errors
              ? [10, 1]
              : [0.1, Math.sqrt((0.4 * 0.6 + 0.3 * 0.7) / (family === tabled ? 10_000 : 1e7))];
          expect((high - gap) / error).to.be.closeTo(2.2365, 0.05);
          expect((gap - low) / error).to.be.closeTo(2.2365, 0.05);
        });
      }
    });

    // Two groups of n and equal variances: t on 2 (n - 1) degrees. R: qt(0.975, 8), qt(0.975, 78).
    for (const [n, expected] of [
      [5, 2.306],
      [40, 1.9908],
    ] as const) {
      it(`means of two groups of ${n} rows, no skewness: Student's t, ${expected}`, () => {
        const family: Family = { kind: 'means', means: [0, 10], standardErrors: [1, 1], sizes: [n, n] };
        expect((intervalOf(family, { samples: 40_000 }).high - 10) / Math.SQRT2).to.be.closeTo(expected, 0.04);
      });
    }

    it('means of 10 and 40 values of equal variance: the 95% point of |t| is 2.1354 (8 million samples of numpy)', () => {
      const family: Family = {
        kind: 'means',
        means: [0, 10],
        standardErrors: [Math.sqrt(1 / 10), Math.sqrt(1 / 40)],
        sizes: [10, 40],
      };
      const { high } = intervalOf(family, { samples: 100_000 });
      expect((high - 10) / Math.sqrt(1 / 10 + 1 / 40)).to.be.closeTo(2.1354, 0.03);
    });

    it('the mean of 40 exponential values and a known mean: the 95% point of |t| is 2.24 (40,000 simulated samples)', () => {
      const family: Family = {
        kind: 'means',
        means: [10, 0],
        standardErrors: [1, 0],
        sizes: [40, 1e9],
        skewness: [2, 2],
      };
      expect(intervalOf(family, { samples: 40_000 }).high - 10).to.be.closeTo(2.24, 0.05);
    });
  });

  describe('properties', () => {
    const cases: [string, Family][] = [
      ['rates', rates([10, 30, 55], [100, 100, 150])],
      ['rates of effective counts', rates([2.5, 7.25, 0], [20.5, 31.75, 12.25])],
      ['log rates', logRates([10, 30, 55], [100, 100, 150])],
      [
        'means',
        {
          kind: 'means',
          means: [1, 1.5, 1.2],
          standardErrors: [0.1, 0.2, 0.15],
          sizes: [40, 50, 60],
          skewness: [2, 0, -1],
        },
      ],
      ['areas', { kind: 'means', means: [0.95, 0.2], standardErrors: [0.2, 0.3], ceiling: 1 }],
    ];

    for (const [name, family] of cases) {
      it(`${name}: the interval lies in the allowed range and contains the observed gap`, () => {
        const { low, high } = intervalOf(family);
        const values =
          family.kind === 'means'
            ? Array.from(family.means)
            : Array.from(family.trials, (n, group) => (family.successes[group] ?? 0) / n);
        const scaled = family.kind === 'log-rates' ? values.map(Math.log) : values;
        const point = Math.max(...scaled) - Math.min(...scaled);
        expect(low).to.be.within(0, point);
        expect(high).to.be.within(point, family.kind === 'rates' || name === 'areas' ? 1 : Infinity);
      });

      it(`${name}: a higher level is never narrower`, () => {
        const ends = [0.5, 0.8, 0.9, 0.95, 0.99].map((level) => intervalOf(family, { level }));
        ends.slice(1).forEach(({ low, high }, index) => {
          expect(low).to.be.at.most(ends[index]?.low ?? NaN);
          expect(high).to.be.at.least(ends[index]?.high ?? NaN);
        });
      });

      it(`${name}: the same seed gives the same interval`, () => {
        expect(intervalOf(family, { seed: 5 })).to.deep.equal(intervalOf(family, { seed: 5 }));
      });

      it(`${name}: the lower end is above 0 exactly if the p-value is at most 1 - level`, () => {
        const { pValue } = intervalOf(family);
        for (const level of [0.5, 0.8, 0.9, 0.95, 0.99, 0.999]) {
          expect(intervalOf(family, { level }).low > 0, `level ${level}, p ${pValue}`).to.equal(
            pValue <= 1 - level + 1e-12,
          );
        }
      });
    }

    for (const factor of [1e-170, 1e-3, 1e6, 1e170]) {
      it(`means in units of ${factor} have the interval in that unit`, () => {
        const scaled = (by: number): Family => ({
          kind: 'means',
          means: [1 * by, 1.5 * by, 1.2 * by],
          standardErrors: [0.1 * by, 0.2 * by, 0.15 * by],
          sizes: [40, 50, 60],
          skewness: [1, 2, 3],
        });
        const one = intervalOf(scaled(1));
        const other = intervalOf(scaled(factor));
        expect(other.low / factor).to.be.closeTo(one.low, 1e-9);
        expect(other.high / factor).to.be.closeTo(one.high, 1e-9);
      });
    }

    it('equal means with large and small errors have the interval in the unit of the errors', () => {
      for (const errors of [
        [1, 1],
        [1, 2],
      ]) {
        const family = (unit: number): Family => ({
          kind: 'means',
          means: [0, 0],
          standardErrors: errors.map((error) => error * unit),
          sizes: [40, 50],
        });
        for (const unit of [1e-200, 1e200]) {
          expect(intervalOf(family(unit)).high / unit).to.be.closeTo(intervalOf(family(1)).high, 1e-9);
        }
      }
    });

    it('a constant that is added to all means changes nothing, even if it is large', () => {
      const family = (added: number): Family => ({
        kind: 'means',
        means: [added, added + 2, added + 4],
        standardErrors: [0.5, 0.25, 0.125],
        sizes: [40, 50, 60],
      });
      // Above 2^53, float64 holds even numbers only.
      for (const added of [-2, 1e6, 1e16]) expect(intervalOf(family(added))).to.deep.equal(intervalOf(family(0)));
    });

    it('a skewness to the left is the mirror image of one to the right', () => {
      const family = (sign: number): Family => ({
        kind: 'means',
        means: [sign, 2 * sign],
        standardErrors: [0.5, 0.1],
        sizes: [40, 400],
        skewness: [3 * sign, 3 * sign],
      });
      const [right, left] = [intervalOf(family(1)), intervalOf(family(-1))];
      expect(left.low).to.be.closeTo(right.low, 1e-12);
      expect(left.high).to.be.closeTo(right.high, 1e-12);
    });

    it('covers families simultaneously: an interval is wider with another family', () => {
      const one = rates([20, 30], [100, 100]);
      const options = { level: 0.95, samples: 4000 };
      const alone = gapIntervals([one], { ...options, random: createRandom(2) }).intervals[0];
      const beside = gapIntervals([one, rates([50, 50], [100, 100])], { ...options, random: createRandom(2) });
      expect(beside.intervals).to.have.length(2);
      expect(beside.intervals[0]?.[1]).to.be.above(alone?.[1] ?? NaN);
    });

    it('the p-value is of the family with the largest |t|, in any order of the families', () => {
      const families = [rates([50, 50], [100, 100]), rates([1, 99], [100, 100])];
      for (const given of [families, families.toReversed()]) {
        // 70 standard errors apart: no replicate reaches this distance.
        const { pValue } = gapIntervals(given, { level: 0.95, samples: 99, random: createRandom(2) });
        expect(pValue).to.equal(0.01);
      }
    });
  });

  describe('critical value and p-value of drawn maxima', () => {
    // Davison and Hinkley (1997), section 2.1 and 4.2: the quantile is the value of rank (R + 1) p, and the p-value is
    // (1 + the number of values that are at least the observed one) / (R + 1).
    const drawn = Float64Array.from({ length: 99 }, (_, index) => ((index * 37) % 99) + 1);

    for (const [level, rank] of [
      [0.95, 95],
      [0.9, 90],
      [0.801, 81],
      // In float64, 100 x 0.55 is above 55.
      [0.55, 55],
      [0.999, 99],
      [0.001, 1],
    ] as const) {
      it(`of 1 to 99 in mixed order, the ${level} quantile is ${rank}`, () => {
        expect(rankedCritical(drawn.slice(), level, 0).critical).to.equal(rank);
      });
    }

    for (const [observed, pValue] of [
      [95, 0.06],
      [95.5, 0.05],
      [99, 0.02],
      [100, 0.01],
      [1, 1],
    ] as const) {
      it(`of 1 to 99, the p-value of ${observed} is ${pValue}`, () => {
        expect(rankedCritical(drawn.slice(), 0.95, observed).pValue).to.equal(pValue);
      });
    }
  });

  describe('degenerate families', () => {
    const means = (values: number[], standardErrors: number[], more = {}): Family => ({
      kind: 'means',
      means: values,
      standardErrors,
      ...more,
    });
    const cases: [string, Family, { low?: number; high?: number }][] = [
      ['no success anywhere', rates([0, 0, 0], [40, 40, 40]), { low: 0 }],
      ['successes only', rates([40, 40], [40, 40]), { low: 0 }],
      ['no success in one group, only successes in the other', rates([0, 40], [40, 40]), { high: 1 }],
      ['one trial in each group', rates([0, 1], [1, 1]), { low: 0, high: 1 }],
      ['one success in one trial', rates([1, 300], [1, 1000]), { low: 0 }],
      ['less than one effective row', rates([0.1, 0.3], [0.2, 0.4]), { low: 0 }],
      ['trials of 1e15, all successes', rates([1e15, 1e15], [1e15, 1e15]), { low: 0 }],
      ['trials of 1e17 and of 1', rates([1e17, 0], [1e17, 1]), { high: 1 }],
      ['log rates with a rate of 0', logRates([0, 20], [40, 40]), { high: Infinity }],
      ['log rates that are all 0', logRates([0, 0], [40, 40]), { low: 0, high: Infinity }],
      ['log rates that are all 1', logRates([40, 40], [40, 40]), { low: 0 }],
      ['no spread in any group', means([1, 1], [0, 0], { sizes: [40, 40] }), { low: 0, high: 0 }],
      ['no spread, and a gap', means([1, 3], [0, 0], { sizes: [40, 40] }), { low: 2, high: 2 }],
      ['no spread in one group', means([1, 1, 5], [0, 0.2, 0.3], { sizes: [40, 40, 40] }), {}],
      ['known errors of 0', means([1, 3], [0, 0]), { low: 2, high: 2 }],
      ['skewness that is not a number', means([1, 1], [0, 0.1], { sizes: [9, 9], skewness: [NaN, 1] }), { low: 0 }],
      ['two rows', means([1, 2], [0.5, 0.1], { sizes: [2, 2000], skewness: [0, 44] }), { low: 0 }],
      ['barely more than one effective row', means([1, 2], [0.5, 0.1], { sizes: [1.0001, 50] }), { low: 0 }],
      ['an outlier among a million rows', means([1, 1], [1, 1], { sizes: [40, 1e6], skewness: [6, 999] }), { low: 0 }],
    ];
    for (const [name, family, expected] of cases) {
      it(`${name}: has an interval without NaN`, () => {
        const { low, high, pValue } = intervalOf(family);
        expect(low).to.be.at.most(high);
        expect(low).to.be.at.least(0);
        expect(pValue).to.be.within(0, 1);
        if (expected.low !== undefined) expect(low).to.equal(expected.low);
        if (expected.high !== undefined) expect(high).to.equal(expected.high);
      });
    }

    it('returns an interval for a single replicate', () => {
      const { low, high } = intervalOf(rates([10, 20], [100, 100]), { samples: 1 });
      expect(low).to.be.at.most(0.1);
      expect(high).to.be.at.least(0.1);
    });
  });

  describe('above 64 groups', () => {
    const many = <T>(value: T): T[] => Array<T>(65).fill(value);

    it('applies if any family has more than 64 groups, and reports its method', () => {
      const methodOf = (...families: Family[]) =>
        gapIntervals(families, { level: 0.95, samples: 10, random: createRandom(1) }).method;
      const welch: Family = { kind: 'means', means: many(1), standardErrors: many(1), sizes: many(10) };
      const [few, most] = [rates([10, 20], [100, 100]), rates(many(30).slice(1), many(100).slice(1))];
      expect(methodOf(few)).to.equal('simultaneous');
      expect(methodOf(few, most)).to.equal('simultaneous');
      expect(methodOf(welch)).to.equal('bonferroni-welch');
      expect(methodOf(few, welch)).to.equal('bonferroni-agresti-caffo');
      expect(methodOf(welch, few)).to.equal('bonferroni-agresti-caffo');
    });

    it('is Bonferroni with Agresti and Caffo, and reports this method', () => {
      const trials = many(100);
      const successes = trials.map((_, group) => 30 + (group % 5));
      const { intervals, method, pValue } = gapIntervals([rates(successes, trials)], {
        level: 0.95,
        samples: 10,
        random: createRandom(1),
      });
      expect(method).to.equal('bonferroni-agresti-caffo');
      // 2,080 pairs: z = 4.2230 (R: qnorm(1 - 0.025 / 2080)).
      const [p1, p2] = [35 / 102, 31 / 102];
      const half = 4.223 * Math.sqrt((p1 * (1 - p1) + p2 * (1 - p2)) / 102);
      expect(intervals[0]?.[1]).to.be.closeTo(p1 - p2 + half, 1e-4);
      expect(intervals[0]?.[0]).to.equal(0);
      expect(pValue).to.equal(1);
    });

    it('means with sizes: Welch, here with the t quantile of 18 degrees', () => {
      const means = many(1).map((mean, group) => (group === 40 ? 9 : mean));
      const family: Family = { kind: 'means', means, standardErrors: many(1), sizes: many(10) };
      const { intervals, pValue } = gapIntervals([family], { level: 0.95, samples: 10, random: createRandom(1) });
      const t = tQuantile(1 - 0.025 / 2080, 18);
      expect(intervals[0]?.[0]).to.be.closeTo(8 - t * Math.SQRT2, 0.02);
      expect(intervals[0]?.[1]).to.be.closeTo(8 + t * Math.SQRT2, 0.02);
      // The p-value's own t is the one observed.
      expect(tQuantile(1 - pValue / 2080 / 2, 18)).to.be.closeTo(8 / Math.SQRT2, 0.02);
    });

    it('the p-value is pairs x the two-sided normal tail', () => {
      const means = many(0).map((mean, group) => (group === 7 ? 6 : mean));
      const family: Family = { kind: 'means', means, standardErrors: many(1) };
      const equal: Family = { kind: 'means', means: many(0), standardErrors: many(1) };
      const pValueOf = (...families: Family[]) =>
        gapIntervals(families, { level: 0.95, samples: 10, random: createRandom(1) }).pValue;
      // R: 2 * pnorm(-6 / sqrt(2)) is 2.2090497e-05.
      expect(pValueOf(family)).to.be.closeTo(2080 * 2.2090497e-5, 1e-6);
      expect(pValueOf(family, equal)).to.be.closeTo(4160 * 2.2090497e-5, 2e-6);
      expect(pValueOf(equal, family)).to.be.closeTo(4160 * 2.2090497e-5, 2e-6);
    });
  });
});

function momentsOf(values: readonly number[]): { mean: number; standardError: number; skewness: number } {
  const n = values.length;
  const power = (exponent: number, centre: number): number =>
    values.reduce((sum, value) => sum + (value - centre) ** exponent, 0) / n;
  const mean = power(1, 0);
  const squares = power(2, mean);
  return { mean, standardError: Math.sqrt(squares / (n - 1)), skewness: power(3, mean) / squares ** 1.5 };
}
