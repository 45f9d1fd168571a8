import tQuantile from '@stdlib/stats-base-dists-t-quantile';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { normalOfT, tOfNormal, welchDegrees } from '../../src/stats/gap-family.ts';
import { createGammaSampler, createMomentSampler } from '../../src/stats/mean-family.ts';
import { steadySkewness, steadyVariances } from '../../src/stats/steady-moments.ts';

const DRAWS = 100_000;

function average(values: ArrayLike<number>, of: (value: number, index: number) => number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += of(values[index] as number, index);
  return sum / values.length;
}

describe('gamma sampler', () => {
  for (const shape of [0.05, 0.5, 1, 4, 250, 1e9]) {
    it(`of shape ${shape} has its mean and variance over ${DRAWS} draws, to 5 standard errors`, () => {
      const draw = createGammaSampler(shape, createRandom(8));
      const draws = Float64Array.from({ length: DRAWS }, () => draw());
      const mean = average(draws, (value) => value);
      const variance = average(draws, (value) => (value - shape) ** 2);
      expect(mean).to.be.closeTo(shape, 5 * Math.sqrt(shape / DRAWS));
      // Fourth central moment of a gamma: 3 k^2 + 6 k.
      expect(variance).to.be.closeTo(shape, 5 * Math.sqrt((2 * shape ** 2 + 6 * shape) / DRAWS));
      expect(draws.every((value) => value > 0)).to.be.true;
    });
  }
});

describe('mean and variance of a skewed sample', () => {
  // For n values of any distribution: E = 1 and Var = kurtosis excess / n + 2 / (n - 1) for the variance ratio,
  // skewness / sqrt(n) for its covariance with the mean's deviation; the excess of a gamma is 1.5 skewness^2.
  for (const [n, skewness] of [
    [5, 0],
    [40, 0.995],
    [40, 2],
    [40, -2],
    [40, 6],
    [2000, 6],
    [12.5, 1],
  ] as const) {
    it(`of ${n} values with skewness ${skewness} has the moments of a gamma sample`, () => {
      const draw = createMomentSampler(n, skewness, createRandom(9));
      const deviations = new Float64Array(DRAWS);
      const ratios = new Float64Array(DRAWS);
      for (let index = 0; index < DRAWS; index++) {
        const { deviation, varianceRatio } = draw();
        deviations[index] = deviation;
        ratios[index] = varianceRatio;
      }
      const spread = (1.5 * skewness ** 2) / n + 2 / (n - 1);
      expect(average(deviations, (value) => value)).to.be.closeTo(0, 0.02);
      expect(average(deviations, (value) => value * value)).to.be.closeTo(1, 0.03);
      expect(average(deviations, (value) => value ** 3)).to.be.closeTo(skewness / Math.sqrt(n), 0.12);
      expect(average(ratios, (value) => value)).to.be.closeTo(1, 0.02);
      expect(average(ratios, (value) => (value - 1) ** 2)).to.be.closeTo(spread, 0.12 * spread);
      expect(average(ratios, (value, index) => (value - 1) * (deviations[index] as number))).to.be.closeTo(
        skewness / Math.sqrt(n),
        0.03,
      );
    });
  }
});

describe('shrunken moments', () => {
  it('skewness 0 stays 0', () => {
    expect(Array.from(steadySkewness([0, 0], [40, 2000]))).to.deep.equal([0, 0]);
  });

  it('shrinks the skewness of few rows towards that of many', () => {
    const [few, many] = steadySkewness([0.5, 5], [40, 20_000]);
    expect(few).to.be.within(3.5, 5.1);
    expect(many).to.be.closeTo(5, 0.1);
  });

  it('no skewness exceeds sqrt(n)', () => {
    expect(Array.from(steadySkewness([300, -300], [1e6, 25]))[1]).to.be.at.most(5);
    expect(Array.from(steadySkewness([-300, -300], [25, 36]))).to.deep.equal([-5, -6]);
    expect(Array.from(steadySkewness([300, 300], [25, 36]))).to.deep.equal([5, 6]);
  });

  for (const [title, skewness, sizes, expected] of [
    ['equal groups: 1 + (6 + 4) / 100', [1, 1], [100, 100], [1.1, 1.1]],
    ['few rows: at most doubled', [1, 1], [9, 9], [2, 2]],
    ['200 rows each: halfway to the mean of 0 and 1 + 10 / 200', [0, 1], [200, 200], [0.2625, 0.7875]],
    ['an undefined skewness counts as 0', [NaN, 1], [200, 200], [0.2625, 0.7875]],
    // 1 + 10 / 300 = 31 / 30, of which the mean by rows is 0.775: (1 - 1 / 3) 0.775 and 0.6 x 31 / 30 + 0.4 x 0.775.
    ['100 and 300 rows: weights of 1 / 3 and 0.6', [0, 1], [100, 300], [1.55 / 3, 0.93]],
  ] as const) {
    it(`skewness by hand, ${title}`, () => {
      steadySkewness(skewness, sizes).forEach((value, group) => {
        expect(value).to.be.closeTo(expected[group] as number, 1e-12);
      });
    });
  }

  it('variances whose differences chance explains become equal', () => {
    const [a, b] = steadyVariances([1, 1.2], [0, 0], [40, 40]);
    expect(a).to.be.closeTo(b as number, 1e-12);
    // Equal noise: the geometric mean.
    expect(a).to.be.closeTo(Math.sqrt(1.2), 1e-12);
  });

  it('variances that differ strongly for their rows keep their order and nearly their values', () => {
    const [a, b] = steadyVariances([1, 100], [0, 0], [2000, 2000]);
    expect(a).to.be.closeTo(1, 0.01);
    expect(b).to.be.closeTo(100, 1);
  });

  it('variances are shrunk by the variance between groups of DerSimonian and Laird', () => {
    // statsmodels 0.15.0: combine_effects(log(v), (2 + 1.5 g^2) / (n - 1), method_re='chi2') has tau2 = 0.3709 and the
    // mean 0.8674. Each logarithm is moved to the mean by the share of noise in its variance.
    const steady = steadyVariances([1, 2, 8, 3], [0, 1, 2, 0.5], [40, 60, 30, 100]);
    [1.1111079246461657, 2.048633066598974, 4.770649634567719, 2.9581562705921116].forEach((expected, group) => {
      expect(steady[group]).to.be.closeTo(expected, 1e-12);
    });
  });

  it('a variance of 0 is unchanged and does not affect the others', () => {
    expect(Array.from(steadyVariances([0, 4, 4], [0, 0, 0], [40, 40, 40]), (v) => Math.round(v * 1e9) / 1e9)).to.eql([
      0, 4, 4,
    ]);
  });
});

describe("Student's t by Wallace's approximation", () => {
  for (const degrees of [10, 39, 2000]) {
    for (const probability of [0.9, 0.975, 0.9999, 1 - 1e-7]) {
      it(`the ${probability} quantile on ${degrees} degrees is stdlib's to 2%`, () => {
        const z = tQuantile(probability, 1e9);
        expect(tOfNormal(z, degrees) / tQuantile(probability, degrees)).to.be.closeTo(1, 0.02);
      });
    }
  }

  it('is too wide in the far tail with few degrees', () => {
    const z = tQuantile(0.9999, 1e9);
    expect(tOfNormal(z, 3)).to.be.within(tQuantile(0.9999, 3), 1.3 * tQuantile(0.9999, 3));
  });

  for (const degrees of [1, 5, 2000]) {
    it(`has an exact inverse on ${degrees} degrees`, () => {
      expect(normalOfT(tOfNormal(2.5, degrees), degrees)).to.be.closeTo(2.5, 1e-12);
    });
  }

  it('Welch: degrees of equal variances are summed, and a variance of 0 adds none', () => {
    expect(welchDegrees(3, 9, 3, 9)).to.be.closeTo(18, 1e-12);
    expect(welchDegrees(3, 9, 0, 4)).to.be.closeTo(9, 1e-12);
  });
});
