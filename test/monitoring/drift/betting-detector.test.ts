import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { BettingDetector } from '../../../src/monitoring/drift/index.ts';

const STEP = 2 / (2 - Math.log(3));

/**
 * Returns the index of the first value at which a one-sided wealth of outcomes is above a limit, from the published
 * formulas; -1 if there is none.
 */
function firstAbove(outcomes: readonly number[], limit: number): number {
  let [wealth, bet, squares] = [1, 0, 0];
  return outcomes.findIndex((g) => {
    wealth *= 1 - bet * g;
    const z = g / (1 - bet * g);
    squares += z * z;
    bet = Math.min(0, Math.max(-0.5, bet - (STEP * z) / (1 + squares)));
    return wealth > limit;
  });
}

const draw = (seed: number, rate: number, n: number) => {
  const random = createRandom(seed);
  return Array.from({ length: n }, () => Number(random.next() < rate));
};

describe('betting on a change', () => {
  for (const [rate, title] of [
    [0.5, 'higher'],
    [0.1, 'lower'],
    [0.32, 'within the tolerance'],
  ] as const) {
    // prettier-ignore
    it(`raises an alarm when one of the two wealths exceeds 2 / alpha: a rate that is ${title}`, () => {
      for (const seed of [1, 2, 3]) {
        const [reference, tolerance, alpha] = [0.3, 0.04, 0.1];
        const values = draw(seed, rate, 1000);
        const up = firstAbove(values.map((value) => value - reference - tolerance), 2 / alpha); // prettier-ignore
        const down = firstAbove(values.map((value) => reference - value - tolerance), 2 / alpha); // prettier-ignore
        const detector = new BettingDetector({ referenceMean: reference, tolerance, alpha });
        const found = values.findIndex((value) => detector.update(value));
        expect(found).to.equal(Math.max(up, down));
        expect(found >= 0).to.equal(rate !== 0.32);
      }
    });
  }

  it('raises false alarms in at most alpha of long streams at the edge of the tolerance', () => {
    const [runs, alpha] = [200, 0.2];
    let alarms = 0;
    for (let run = 0; run < runs; run++) {
      const detector = new BettingDetector({ referenceMean: 0.3, tolerance: 0.05, alpha });
      alarms += Number(draw(run, 0.35, 3000).some((value) => detector.update(value)));
    }
    // Half of alpha is spent on this side: 20 of 200 streams, plus 4 standard deviations of B(200, 0.1). A z test at
    // each value would give most of them.
    expect(alarms).to.be.at.most(20 + 4 * Math.sqrt(200 * 0.1 * 0.9));
  });

  it('estimates the reference from the first values, and finds no change among them', () => {
    const detector = new BettingDetector({ warmUp: 40, tolerance: 0 });
    const values = [...Array<number>(20).fill(0), ...Array<number>(20).fill(1)];
    for (const value of values) {
      expect(detector.reference).to.equal(null);
      expect(detector.update(value)).to.equal(false);
    }
    expect(detector.reference).to.be.closeTo(0.5, 1e-12);
    const rest = Array<number>(60).fill(1);
    const found = rest.findIndex((value) => detector.update(value));
    const given = new BettingDetector({ referenceMean: 0.5, tolerance: 0 });
    expect(found).to.equal(rest.findIndex((value) => given.update(value)));
    expect(found).to.be.above(0);
  });

  it('estimates a new reference after a detection', () => {
    const detector = new BettingDetector({ warmUp: 100 });
    draw(1, 0.1, 100).forEach((value) => detector.update(value));
    expect(detector.reference).to.be.closeTo(0.1, 0.1);
    const ones = Array<boolean>(300).fill(true);
    expect(ones.findIndex(() => detector.update(1))).to.be.within(0, 60);
    detector.update(1);
    expect(detector.reference).to.equal(null);
  });

  it('uses a given reference immediately', () => {
    expect(new BettingDetector({ referenceMean: 0 }).reference).to.equal(0);
  });

  for (const value of [-0.01, 1.01]) {
    it(`rejects ${value}, which is not in [0, 1]`, () => {
      expect(() => new BettingDetector().update(value)).to.throw(/^The value for betting must be a number from 0 to 1/);
    });
  }
});
