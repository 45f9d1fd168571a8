import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
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

  it('take time proportional to the number of groups', () => {
    const random = createRandom(6);
    const centres = Float64Array.from({ length: 20_000 }, () => random.next());
    const variances = centres.map((centre) => (centre * (1 - centre)) / 40);
    const start = performance.now();
    pairExtremes({ centres, variances }, 6);
    // Trying 200 million pairs takes at least a third of a second on the fastest machines.
    expect(performance.now() - start).to.be.below(250);
  });
});
