import { expect } from 'chai';

import {
  CusumDetector,
  DdmDetector,
  EwmaDetector,
  HddmADetector,
  HddmWDetector,
  PageHinkleyDetector,
  type DriftDetector,
} from '../../../src/monitoring/drift/index.ts';

const alarmsOf = (detector: DriftDetector, values: readonly number[]) =>
  values.flatMap((value, index) => (detector.update(value) ? [index] : []));

/** Computed by hand from the formulas in the docstrings. */
describe('charts on streams computed by hand', () => {
  it('CUSUM: mean 1 and deviation 1 from 0, 1, 2; each 3 adds 2 - 0.5, so the fourth exceeds 5', () => {
    const detector = new CusumDetector({ minInstances: 3 });
    // The third value is used for the estimate and tested: 2 - 1 - 0.5 adds 0.5 to the sum. A 1 reduces it to 0.
    expect(alarmsOf(detector, [0, 1, 2, 1, 3, 3, 3, 3])).to.deep.equal([7]);
    expect(detector.changeAge).to.equal(3);
  });

  it('CUSUM: the same for decreases, unless only increases are tested', () => {
    expect(alarmsOf(new CusumDetector({ minInstances: 3 }), [2, 1, 0, 1, -1, -1, -1, -1])).to.deep.equal([7]);
    const up = new CusumDetector({ minInstances: 3, mode: 'up' });
    expect(alarmsOf(up, [2, 1, 0, 1, -1, -1, -1, -1, -1, -1])).to.deep.equal([]);
  });

  it('Page-Hinkley: without forgetting, ones after three zeros deviate by 3/4, 3/5, 3/6', () => {
    // Without delta the rise is 0.75, 1.35, 1.85 after 4, 5, 6 values.
    const detector = new PageHinkleyDetector({ minInstances: 1, delta: 0, threshold: 1.8, alpha: 1 });
    expect(alarmsOf(detector, [0, 0, 0, 1, 1, 1])).to.deep.equal([5]);
  });

  it('Page-Hinkley: delta delays the detection, which is dated by the extreme', () => {
    // rise: -0.1, -0.2, -0.3, 0.35, 0.85, 1.25; its lowest is after 3 values.
    const detector = new PageHinkleyDetector({ minInstances: 1, delta: 0.1, threshold: 1.5, alpha: 1, mode: 'up' });
    expect(alarmsOf(detector, [0, 0, 0, 1, 1, 1])).to.deep.equal([5]);
    expect(detector.changeAge).to.equal(2);
  });

  it('EWMA: with alpha 1/2, one 1 after three zeros gives an average of 1/2, a mean of 1/4 and a variance of 1/4', () => {
    // sqrt(1/4 x 1/3 x (1 - 2^-8)) is 0.2881; the deviation of 1/4 is 0.8678 of it.
    const make = (threshold: number) => new EwmaDetector({ alpha: 0.5, threshold, minInstances: 1 });
    expect(alarmsOf(make(0.867), [0, 0, 0, 1])).to.deep.equal([3]);
    expect(alarmsOf(make(0.868), [0, 0, 0, 1])).to.deep.equal([]);
  });

  it('DDM: a rate that doubles triggers the warning first, and then the change', () => {
    // After 10 values p = 0.2 and s = 0.1265 at the lowest. With ones p + s is 0.407 after 11, 0.469 after 12,
    // 0.519 after 13, 0.563 after 14, 0.600 after 15; warned above 0.453, changed above 0.579.
    const detector = new DdmDetector({ warmStart: 9 });
    const steps = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1].map((value) => [
      detector.update(value),
      detector.isWarning,
    ]);
    expect(steps.slice(9)).to.deep.equal([
      [false, false],
      [false, false],
      [false, true],
      [false, true],
      [false, true],
      [true, false],
    ]);
    // Warnings began 3 values earlier.
    expect(detector.changeAge).to.equal(3);
  });

  it('DDM: after only zeros, the first 1 is a change', () => {
    expect(alarmsOf(new DdmDetector(), [...Array<number>(50).fill(0), 1])).to.deep.equal([50]);
  });

  it('HDDM with averages: ones after zeros are a change when their share exceeds the bound', () => {
    // After m zeros and k ones: k / n >= sqrt((1/m - 1/n) ln(2000) / 2), m = 20: k = 3 has 0.1304 < 0.1575, 4 has
    // 0.1667 < 0.1780, 5 has 0.2 >= 0.1949. With ln(400): 0.1398, 0.1580, so 4 is a warning and 3 is not.
    const detector = new HddmADetector();
    for (let index = 0; index < 20; index++) detector.update(0);
    const steps = Array.from({ length: 5 }, () => [detector.update(1), detector.isWarning]);
    expect(steps).to.deep.equal([[false, false], [false, false], [false, false], [false, true], [true, false]]); // prettier-ignore
    expect(detector.changeAge).to.equal(1);
  });

  for (const make of [
    (twoSidedTest: boolean) => new HddmADetector({ twoSidedTest }),
    (twoSidedTest: boolean) => new HddmWDetector({ twoSidedTest }),
  ]) {
    const { name } = make(false);
    it(`${name} finds a decrease only if both sides are tested`, () => {
      const fall = [...Array<number>(100).fill(1), ...Array<number>(100).fill(0)];
      expect(alarmsOf(make(false), fall)).to.deep.equal([]);
      const [first] = alarmsOf(make(true), fall);
      expect(first).to.be.within(100, 130);
    });

    it(`${name} finds the same changes in x and 1 - x if both sides are tested`, () => {
      const stream = Array.from({ length: 600 }, (_, index) => Number((index * 7919) % 10 < (index < 300 ? 2 : 7)));
      const found = alarmsOf(make(true), stream);
      expect(found).to.have.length.above(0);
      expect(alarmsOf(make(true), stream.map((value) => 1 - value))).to.deep.equal(found); // prettier-ignore
    });
  }

  for (const [title, make] of [
    ['ddm', () => new DdmDetector({ warningThreshold: 4 })],
    ['hddm_a', () => new HddmADetector({ warningConfidence: 0.0001 })],
    ['hddm_w', () => new HddmWDetector({ driftConfidence: 0.1 })],
  ] as const) {
    it(`${title} rejects warnings that would come after the change`, () => {
      expect(make).to.throw(/^The warning(Threshold|Confidence) parameter must be at (most|least) drift/);
    });
  }
});
