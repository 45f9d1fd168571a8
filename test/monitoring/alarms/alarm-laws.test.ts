import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import type { AlertEngineOptions } from '../../../src/monitoring/alarms/engine-options.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { plain } from '../tracker/hostile-values.ts';

/** Returns a stream of two groups with given rates. */
function stream(windowSize: number): {
  tracker: RealTimeFairnessTracker;
  add: (count: number, x: number, y: number) => void;
} {
  const tracker = new RealTimeFairnessTracker({
    columns: { yPred: 'p', protected: ['g'], timestamp: 'at' },
    groups: { g: ['x', 'y'] },
    windowSize,
  });
  const random = createRandom(7);
  let second = 0;
  const add = (count: number, x: number, y: number): void => {
    for (let event = 0; event < count; event++) {
      const isX = random.next() < 0.5;
      tracker.record({ g: isX ? 'x' : 'y', p: Number(random.next() < (isX ? x : y)), at: 1000 * second++ });
    }
  };
  return { tracker, add };
}

/** Returns both after a conversion to JSON and back. */
function restored(
  tracker: RealTimeFairnessTracker,
  engine: FairnessDriftAndAlertEngine,
  options: AlertEngineOptions,
): { tracker: RealTimeFairnessTracker; engine: FairnessDriftAndAlertEngine } {
  const again = RealTimeFairnessTracker.restore(plain(tracker.snapshot()));
  return { tracker: again, engine: FairnessDriftAndAlertEngine.restore(plain(engine.snapshot()), again, options) };
}

describe("an engine with growing windows ('cumulative')", () => {
  for (const isResolved of [true, false]) {
    it(`raises a second alarm after the first was ${isResolved ? 'resolved' : 'cleared'}`, () => {
      const { tracker, add } = stream(4000);
      const engine = new FairnessDriftAndAlertEngine({ windows: 'cumulative', cooldownMillis: Infinity });
      const check = (checks: number, x: number, y: number): void => {
        for (let one = 0; one < checks; one++) {
          add(200, x, y);
          engine.update(tracker);
        }
      };
      check(15, 0.7, 0.3);
      if (isResolved) engine.resolve(engine.alerts[0]?.alert.id ?? '');
      check(50, 0.5, 0.5);
      expect(engine.alerts.map(({ isOpen }) => isOpen)).to.deep.equal([false]);
      expect(engine.alerts[0]?.changes.at(-1)?.change).to.equal(isResolved ? 'resolved' : 'cleared');
      check(100, 0.2, 0.8);
      expect(
        engine.alerts.map(({ alert, isOpen }) => [alert.id.split(':').at(-1), alert.groups, isOpen]),
      ).to.deep.equal([
        ['1', ['x', 'y'], false],
        ['2', ['y', 'x'], true],
      ]);
    });
  }
});

describe('an engine restored from a snapshot', () => {
  it('does not count an idle update as a check of a watch', () => {
    const options = { persistence: 3 };
    const { tracker, add } = stream(1000);
    const engine = new FairnessDriftAndAlertEngine(options);
    add(350, 0.65, 0.4);
    const states = [0, 1].map(() => {
      add(2, 0.65, 0.4);
      return engine.update(tracker);
    });
    expect(states.map(({ states: { g } }) => g?.['demographic_parity_difference'])).to.deep.equal(['watch', 'watch']);
    const again = restored(tracker, engine, options);
    for (let checkNow = 0; checkNow < 3; checkNow++) {
      const { watches, states: now } = again.engine.update(again.tracker);
      expect(watches).to.deep.equal([]);
      expect(now['g']).to.deep.equal({ demographic_parity_difference: 'watch' });
    }
    again.tracker.record({ g: 'x', p: 1, at: 400_000 });
    expect(again.engine.update(again.tracker).watches).to.have.lengthOf(1);
  });

  it('does not repeat an open alarm at an idle update without a cool-down', () => {
    const options = { cooldownMillis: 0 };
    const { tracker, add } = stream(2000);
    const engine = new FairnessDriftAndAlertEngine(options);
    add(3000, 0.7, 0.3);
    expect(engine.update(tracker).alerts).to.have.lengthOf(1);
    const again = restored(tracker, engine, options);
    for (let checkNow = 0; checkNow < 3; checkNow++) {
      const { alerts, states } = again.engine.update(again.tracker);
      expect(alerts).to.deep.equal([]);
      expect(states['g']).to.deep.equal({ demographic_parity_difference: 'breach' });
    }
    again.tracker.record({ g: 'x', p: 1, at: 4_000_000 });
    expect(again.engine.update(again.tracker).alerts).to.have.lengthOf(1);
  });
});
