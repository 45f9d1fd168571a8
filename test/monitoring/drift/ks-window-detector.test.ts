import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { KsWindowDetector } from '../../../src/monitoring/drift/index.ts';
import { ksCriticalCount } from '../../../src/monitoring/drift/ks-window-detector.ts';
import { twoSampleKolmogorovSmirnov } from '../../../src/stats/distances/kolmogorov-smirnov.ts';

/** Returns two samples of n values whose statistic is k / n: the second is shifted by k positions. */
const separate = (n: number, k: number) =>
  [Array.from({ length: n }, (_, i) => i), Array.from({ length: n }, (_, i) => i + k - 0.5)] as const;

describe('the critical count of two windows', () => {
  for (const [n, alpha] of [
    [5, 0.05],
    [6, 0.2],
    [20, 0.01],
    [50, 0.001],
    [100, 1e-4],
    [200, 1e-4],
  ] as const) {
    // prettier-ignore
    it(`of ${n} values at ${alpha} is the smallest whose exact p-value is at most that`, () => {
      const critical = ksCriticalCount(n, alpha) as number;
      const [here, below] = [critical, critical - 1].map((k) => twoSampleKolmogorovSmirnov(...separate(n, k)));
      expect(here?.statistic).to.be.closeTo(critical / n, 1e-12);
      expect(here?.pValue).to.be.at.most(alpha);
      expect(below?.pValue).to.be.above(alpha);
    });
  }

  it('is null if even disjoint samples are more likely than alpha: 2 / C(10, 5) = 1/126', () => {
    expect(ksCriticalCount(5, 1 / 125.9)).to.equal(5);
    expect(ksCriticalCount(5, 1 / 126.1)).to.equal(null);
  });
});

describe('two adjacent windows', () => {
  for (const kind of ['scores', 'decisions'] as const) {
    it(`raise an alarm on ${kind} exactly if the test of their values has a p-value of at most alpha`, () => {
      const [windowSize, alpha] = [30, 0.02];
      const random = createRandom(4);
      const draw = (index: number) => {
        const value = random.next() + (index % 200 >= 100 ? 0.4 : 0);
        return kind === 'scores' ? value : Number(value > 0.5);
      };
      const values = Array.from({ length: 3000 }, (_, index) => draw(index));
      const detector = new KsWindowDetector({ windowSize, alpha, clock: 1 });
      let [start, alarms] = [0, 0];
      values.forEach((value, index) => {
        const isAlarm = detector.update(value);
        const seen = values.slice(start, index + 1).slice(-2 * windowSize);
        const isExpected =
          seen.length === 2 * windowSize &&
          twoSampleKolmogorovSmirnov(seen.slice(0, windowSize), seen.slice(windowSize)).pValue <= alpha;
        expect(isAlarm, `at ${index}`).to.equal(isExpected);
        if (isAlarm) start = index + 1;
        alarms += Number(isAlarm);
      });
      expect(alarms).to.be.within(5, 60);
    });
  }

  it('detect a change of spread with a constant mean', () => {
    const random = createRandom(5);
    const detector = new KsWindowDetector();
    const values = Array.from({ length: 2000 }, (_, index) => 0.5 + (index < 1000 ? 0.1 : 0.4) * (random.next() - 0.5));
    expect(values.findIndex((value) => detector.update(value))).to.be.within(1000, 1200);
    expect(detector.changeAge).to.equal(199);
  });

  it('reject windows in which no change could be found at alpha', () => {
    expect(() => new KsWindowDetector({ windowSize: 5, alpha: 0.001 })).to.throw(
      /^The windowSize parameter must be larger if alpha is 0\.001\. Got 5 instead/,
    );
  });

  it('reject a state with fewer values than the windows hold', () => {
    const detector = new KsWindowDetector({ windowSize: 10, alpha: 0.01 });
    for (let index = 0; index < 50; index++) detector.update(index % 10);
    const state = detector.state();
    const memory = state['memory'] as { n: number; values: number[] };
    expect(memory.values).to.deep.equal(Array.from({ length: 20 }, (_, index) => index % 10));
    expect(() => {
      detector.restore({ ...state, memory: { ...memory, values: memory.values.slice(1) } });
    }).to.throw(/the number of values does not match the windows/);
  });
});
