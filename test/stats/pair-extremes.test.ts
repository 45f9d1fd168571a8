import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { gapRange, normalOfT, outermostFirst, tOfNormal, welchDegrees } from '../../src/stats/gap-family.ts';
import { largestNormal, largestT } from '../../src/stats/max-t.ts';
import { pairExtremes } from '../../src/stats/pair-extremes.ts';

/** Tries all pairs. */
function byBruteForce(centres: Float64Array, variances: Float64Array, critical: number): { low: number; high: number } {
  let [low, high] = [0, 0];
  for (let i = 0; i < centres.length; i++) {
    for (let j = i + 1; j < centres.length; j++) {
      const difference = Math.abs((centres[i] as number) - (centres[j] as number));
      const error = Math.sqrt((variances[j] as number) + (variances[i] as number));
      const half = error === 0 ? 0 : critical * error;
      if (difference - half > low) low = difference - half;
      if (difference + half > high) high = difference + half;
    }
  }
  return { low, high };
}

const SHAPES: Readonly<Record<string, (centre: number, variance: number, index: number) => [number, number]>> = {
  'rates of groups of different sizes': (centre, variance) => [centre, variance],
  'groups of equal size': (centre) => [centre, (centre * (1 - centre)) / 32],
  'equal centres': (_, variance) => [0.5, variance],
  'equal groups': () => [0.25, 0.01],
  'variances of 0': (centre) => [centre, 0],
  'some variances of 0': (centre, variance, index) => [centre, index % 3 === 0 ? 0 : variance],
  'large numbers': (centre, variance) => [centre * 1e9 - 3e8, variance * 1e18],
  'tiny numbers': (centre, variance) => [centre * 1e-200, variance * 1e-300],
  'a missing centre': (centre, variance, index) => [index === 7 ? NaN : centre, variance],
  'a missing variance': (centre, variance, index) => [centre, index === 7 ? NaN : variance],
  'numbers near the limit': (centre, variance, index) => [index === 7 ? 1e308 : centre, variance],
};

describe('the extremes of all pairs of groups', () => {
  for (const [title, shape] of Object.entries(SHAPES)) {
    it(`equal those that trying all pairs finds, bit for bit: ${title}`, () => {
      const random = createRandom(5);
      for (let trial = 0; trial < 200; trial++) {
        const count = 2 + random.integer(trial % 4 === 0 ? 300 : 60);
        const groups = Array.from({ length: count }, (_, index) => {
          const size = 10 * Math.exp(6 * random.next() ** 2);
          const centre = random.next() ** 3;
          return shape(centre, (centre * (1 - centre)) / size, index);
        });
        const centres = Float64Array.from(groups, ([centre]) => centre);
        const variances = Float64Array.from(groups, ([, variance]) => variance);
        for (const critical of [0.1, 2, 6, Infinity]) {
          const found = pairExtremes({ centres, variances }, critical);
          expect(found, `trial ${String(trial)}, ${String(critical)}`).to.deep.equal(
            byBruteForce(centres, variances, critical),
          );
        }
      }
    });
  }

  it('take a small part of the time of trying all pairs', () => {
    const random = createRandom(6);
    const centres = Float64Array.from({ length: 20_000 }, () => random.next());
    const variances = centres.map((centre) => (centre * (1 - centre)) / 40);
    /** The time of this process alone, since others may be busy. */
    const microsecondsOf = (work: () => unknown) => {
      const start = process.cpuUsage();
      work();
      return process.cpuUsage(start).user;
    };
    const all = microsecondsOf(() => byBruteForce(centres, variances, 6));
    expect(microsecondsOf(() => pairExtremes({ centres, variances }, 6)) / all).to.be.below(0.3);
  });
});

describe('the range of a gap with degrees of freedom', () => {
  /**
   * Tries all pairs, each with its own degrees of freedom. Returns the range of the gap, and the largest |t| as the normal
   * value with the same tail probability.
   */
  function byBruteForceWithDegrees(
    centres: Float64Array,
    variances: Float64Array,
    degrees: Float64Array,
    critical: number,
  ): { range: [low: number, high: number]; largest: number } {
    let [low, high, gap, largest] = [0, 0, 0, 0];
    for (let i = 0; i < centres.length; i++) {
      for (let j = 0; j < centres.length; j++) {
        const difference = (centres[i] as number) - (centres[j] as number);
        const [vi, vj] = [variances[i] as number, variances[j] as number];
        const pairDegrees = welchDegrees(vi, degrees[i] as number, vj, degrees[j] as number);
        const half = i === j || vi + vj === 0 ? 0 : Math.sqrt(vi + vj) * tOfNormal(critical, pairDegrees);
        low = Math.max(low, difference - half);
        high = Math.max(high, difference + half);
        gap = Math.max(gap, difference);
        if (difference > 0 && vi + vj === 0) largest = Infinity;
        else if (difference > 0) largest = Math.max(largest, normalOfT(difference / Math.sqrt(vi + vj), pairDegrees));
      }
    }
    return { range: [Math.min(low, gap), Math.max(gap, high)], largest };
  }

  type Group = readonly [centre: number, variance: number, degrees: number];
  const shapes: Readonly<Record<string, (one: number, two: number, three: number, index: number) => Group>> = {
    'groups of different sizes': (one, two, three) => [one, 0.02 * two ** 2, 2 + 200 * three ** 3],
    'small groups': (one, two, three) => [one, 0.1 * two, 1 + Math.floor(4 * three)],
    'some variances of 0': (one, two, three, index) => [one, index % 3 === 0 ? 0 : 0.1 * two, 2 + 50 * three],
    'equal centres': (_, two, three) => [3, two, 2 + 50 * three],
    'no variance': (one, _, three) => [one, 0, 2 + 50 * three],
    'centres on both sides of 0, far apart': (one, two, three) => [8 * one - 4, 0.1 * two, 3 + 20 * three],
  };

  for (const [title, shape] of Object.entries(shapes)) {
    it(`and the largest t equal those of all pairs: ${title}`, () => {
      const random = createRandom(15);
      for (let trial = 0; trial < 100; trial++) {
        const groups = Array.from({ length: 2 + random.integer(20) }, (_, index) =>
          shape(random.next(), random.next(), random.next(), index),
        );
        const [centres, variances, degrees] = [0, 1, 2].map((part) =>
          Float64Array.from(groups, (group) => group[part] as number),
        ) as [Float64Array, Float64Array, Float64Array];
        const point = Math.max(...centres) - Math.min(...centres);
        for (const critical of [0.5, 2, 4]) {
          const expected = byBruteForceWithDegrees(centres, variances, degrees, critical);
          const family = { centres, variances, degrees, point, ceiling: Infinity, draw: () => undefined };
          const found = gapRange(family, critical, degrees);
          expect(found[0], `trial ${String(trial)}`).to.be.closeTo(expected.range[0], 1e-12);
          expect(found[1], `trial ${String(trial)}`).to.be.closeTo(expected.range[1], 1e-12);
          const largest = largestNormal(family);
          if (expected.largest === Infinity) expect(largest).to.equal(Infinity);
          else expect(largest, `trial ${String(trial)}`).to.be.closeTo(expected.largest, 1e-12);
        }
      }
    });
  }

  it('the largest |t| of known errors is the largest difference in standard errors; 0 without a difference', () => {
    // 3 / sqrt(0 + 9), 4 / sqrt(0 + 4) and 1 / sqrt(9 + 4).
    expect(largestT(Float64Array.of(0, 3, 4), Float64Array.of(0, 9, 4))).to.be.closeTo(2, 1e-15);
    expect(largestT(Float64Array.of(0, -3), Float64Array.of(7, 9))).to.be.closeTo(0.75, 1e-15);
    expect(largestT(Float64Array.of(5, 5), Float64Array.of(0, 0))).to.equal(0);
    expect(largestT(Float64Array.of(5, 6), Float64Array.of(0, 0))).to.equal(Infinity);
  });

  it('is bounded by the ceiling, and is at least the lower bound of the upper end, in the unit of the values', () => {
    const groups = { centres: Float64Array.of(0, 2), variances: Float64Array.of(0.5, 0.5), point: 20, unit: 10 };
    // The difference of 2 has a standard error of 1.
    expect(gapRange({ ...groups, ceiling: Infinity }, 1.5)).to.deep.equal([5, 35]);
    expect(gapRange({ ...groups, ceiling: 30 }, 1.5)).to.deep.equal([5, 30]);
    expect(gapRange({ ...groups, ceiling: 60, minHigh: 50 }, 1.5)).to.deep.equal([5, 50]);
    expect(gapRange({ ...groups, ceiling: 30, point: 4 }, 1.5)).to.deep.equal([4, 30]);
    expect(gapRange({ ...groups, ceiling: 30, point: 32 }, 1.5)).to.deep.equal([5, 32]);
  });

  it('is computed with the groups sorted by their centres, from the outermost inward', () => {
    const family = {
      centres: Float64Array.of(3, 1, 2, 5, 4),
      variances: Float64Array.of(30, 10, 20, 50, 40),
      point: 4,
      ceiling: 9,
      draw: () => undefined,
    };
    const sorted = outermostFirst({ ...family, degrees: Float64Array.of(300, 100, 200, 500, 400) });
    expect(Array.from(sorted.centres)).to.deep.equal([5, 1, 4, 2, 3]);
    expect(Array.from(sorted.variances)).to.deep.equal([50, 10, 40, 20, 30]);
    expect(Array.from(sorted.degrees ?? [])).to.deep.equal([500, 100, 400, 200, 300]);
    expect(sorted).to.include({ point: 4, ceiling: 9 });
    expect(outermostFirst(family).degrees).to.equal(undefined);
  });
});
