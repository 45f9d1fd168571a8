import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { AdwinDetector } from '../../../src/monitoring/drift/index.ts';

const bits = (seed: number, rate: number, n: number) => {
  const random = createRandom(seed);
  return Array.from({ length: n }, () => Number(random.next() < rate));
};

/** Returns the mean and mean squared deviation, in two passes. */
function momentsOf(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
}

describe('the window of ADWIN', () => {
  it('has the mean and the variance of all values while nothing changes', () => {
    const random = createRandom(3);
    const detector = new AdwinDetector();
    const values: number[] = [];
    for (let index = 0; index < 20_000; index++) {
      values.push(random.next());
      expect(detector.update(values.at(-1) as number)).to.equal(false);
      if (index % 1999 !== 0) continue;
      const { mean, variance } = momentsOf(values);
      expect(detector.width).to.equal(values.length);
      expect(detector.mean).to.be.closeTo(mean, 1e-12);
      expect(detector.variance).to.be.closeTo(variance, 1e-12);
    }
  });

  it('contains only the latest values after a detection', () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const values = [...bits(seed, 0.2, 3000), ...bits(seed + 50, 0.6, 1000)];
      const detector = new AdwinDetector();
      const at = values.findIndex((value) => detector.update(value));
      expect(at).to.be.within(3000, 3200);
      expect(detector.width).to.be.below(at + 1);
      const { mean, variance } = momentsOf(values.slice(at + 1 - detector.width, at + 1));
      expect(detector.mean).to.be.closeTo(mean, 1e-12);
      expect(detector.variance).to.be.closeTo(variance, 1e-9);
    }
  });

  it('is empty at the start, with undefined mean and variance', () => {
    const detector = new AdwinDetector();
    expect([detector.width, detector.mean, detector.variance]).to.deep.equal([0, NaN, NaN]);
  });

  it('uses a number of buckets proportional to the logarithm of the number of values', () => {
    const detector = new AdwinDetector();
    const sizes: number[] = [];
    bits(7, 0.5, 2 ** 17).forEach((value, index) => {
      detector.update(value);
      if (Number.isInteger(Math.log2(index + 1))) {
        sizes.push((detector.state()['memory'] as { rows: unknown[] }).rows.length);
      }
    });
    // With at least 4 buckets in every full row: 4 (2^rows - 1) <= n.
    sizes.forEach((rows, power) => {
      expect(rows).to.be.at.most(Math.max(1, power));
    });
  });
});

describe('ADWIN', () => {
  it('dates a change from 0 to 1 within the bucket that contains it', () => {
    for (const changeAt of [100, 1000, 1777, 5003]) {
      const detector = new AdwinDetector();
      let found = -1;
      for (let index = 0; found === -1; index++) if (detector.update(Number(index >= changeAt))) found = index;
      expect(found - changeAt).to.be.within(0, 63);
      // The latest values are in buckets of at most 16, since 5 each of 1, 2, 4 and 8 hold 75.
      expect(Math.abs(found - (detector.changeAge ?? NaN) - changeAt)).to.be.below(16);
    }
  });

  it('finds nothing within the grace period', () => {
    const detector = new AdwinDetector({ clock: 1, gracePeriod: 500 });
    for (let index = 0; index < 500; index++) expect(detector.update(Number(index >= 250))).to.equal(false);
    expect(detector.update(1)).to.equal(true);
  });

  it('checks only every clock values', () => {
    for (const clock of [1, 7, 50]) {
      const detector = new AdwinDetector({ clock });
      const found = Array.from({ length: 600 }, (_, index) => detector.update(Number(index >= 300))).indexOf(true);
      expect((found + 1) % clock).to.equal(0);
      expect(found).to.be.within(300, 300 + Math.max(30, clock));
    }
  });

  it('finds fewer changes with a smaller delta', () => {
    const values = [...bits(8, 0.3, 2000), ...bits(9, 0.4, 2000)];
    const foundAt = [0.5, 0.05, 0.002, 1e-6].map((delta) => {
      const detector = new AdwinDetector({ delta });
      return values.findIndex((value, index) => detector.update(value) && index >= 2000);
    });
    expect(foundAt).to.deep.equal(foundAt.toSorted((a, b) => a - b));
  });

  for (const [title, change, message] of [
    ['a missing bucket', (rows: number[][][]) => rows[0]?.pop(), /the width does not match the buckets/],
    ['an empty row', (rows: number[][][]) => rows[0]?.splice(0), /a row has no buckets/],
    ['a bucket that is not a pair', (rows: number[][][]) => rows[0]?.splice(0, 1, [1]), /'memory\.rows\.0\.0/],
    ['negative squares', (rows: number[][][]) => rows[0]?.splice(0, 1, [1, -1]), /'memory\.rows\.0\.0\.1'/],
  ] as const) {
    it(`rejects a state with ${title}`, () => {
      const detector = new AdwinDetector();
      bits(10, 0.5, 101).forEach((value) => detector.update(value));
      const state = JSON.parse(JSON.stringify(detector.state())) as { memory: { rows: number[][][] } };
      change(state.memory.rows);
      expect(() => {
        detector.restore(state);
      }).to.throw(message);
    });
  }
});
