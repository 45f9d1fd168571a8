import { expect } from 'chai';

import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import {
  type EngineSnapshot,
  FairnessDriftAndAlertEngine,
} from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { DRIFT_DETECTOR_NAMES } from '../../../src/monitoring/drift/create-drift-detector.ts';
import {
  RealTimeFairnessTracker,
  type TrackerSnapshot,
} from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { JUNK, pathsOf, plain, withField } from '../tracker/hostile-values.ts';

const OPTIONS = { detectors: DRIFT_DETECTOR_NAMES, limits: { demographic_parity_difference: 0.05 }, persistence: 2 };

const tracker = new RealTimeFairnessTracker({
  columns: { yPred: 'p', protected: ['g'], timestamp: 'at' },
  windowSize: 50,
  restartEvery: 60,
  recordEvery: 1000,
});
const engine = new FairnessDriftAndAlertEngine(OPTIONS);
engine.watch(tracker);
// One alarm is resolved, the next is open.
for (let check = 0; check < 20; check++) {
  for (let row = 0; row < 10; row++)
    tracker.record({ p: row % 2, g: row % 2 === 0 ? 'x' : 'y', at: 1000 * (10 * check + row) });
  const [alert] = engine.update(tracker).alerts;
  if (alert?.id.endsWith(':1') === true) engine.resolve(alert.id);
}
const saved = plain<[TrackerSnapshot, EngineSnapshot]>([tracker.snapshot(), engine.snapshot()]);

/** Restores a snapshot and uses the result. */
function use(snapshot: EngineSnapshot): void {
  const restored = RealTimeFairnessTracker.restore(saved[0]);
  const again = FairnessDriftAndAlertEngine.restore(snapshot, restored, OPTIONS);
  restored.record({ p: 1, g: 'x', at: 1e6 });
  restored.record({ p: 0, g: 'y', at: 1e6 });
  restored.metrics();
  again.update(restored);
  again.snapshot();
}

describe('an untrusted snapshot of an engine', () => {
  it('is of an engine with an open alarm, a closed one, and every detector', () => {
    expect(saved[1].alerts.map(({ isOpen }) => isOpen)).to.deep.equal([false, true]);
    expect(saved[1].detectors[0]?.detectors.map(({ length }) => length)).to.deep.equal(
      DRIFT_DETECTOR_NAMES.map(() => 2),
    );
    use(saved[1]);
  });

  it('is restored, or rejected with a toolkit error, for any value of a field @slow', () => {
    for (const path of pathsOf(saved[1], 2)) {
      for (const given of JUNK) {
        try {
          use(withField(saved[1], path, given));
        } catch (cause) {
          const where = `${path.join('.')} = ${JSON.stringify(given)}: ${String((cause as Error).stack)}`;
          expect(FairnessToolkitError.isInstance(cause), where).to.equal(true);
          expect(String(cause), where).to.include('The snapshot cannot be restored');
        }
      }
    }
  });

  const { combinations, alerts } = saved[1];
  for (const [what, given] of [
    ['nothing', undefined],
    ['a text', 'x'],
    ['only a version', { version: 1 }],
    ['no combinations', { ...saved[1], combinations: [] }],
    ['a combination without its state', { ...saved[1], combinations: [{ attribute: 'g', metric: 'x' }] }],
    ['a different combination', withField(saved[1], ['combinations', 0, 'metric'], 'equalized_odds_difference')],
    ['duplicate combinations', { ...saved[1], combinations: [...combinations, ...combinations] }],
    ['an open alert with only an id', withField(saved[1], ['combinations', 0, 'open'], { id: 'x' })],
    ['an open alert that is missing from the history', withField(saved[1], ['alerts'], alerts.slice(0, 1))],
    ['an open alert in the history without an open alarm', withField(saved[1], ['combinations', 0, 'open'], null)],
    ['duplicate alerts', withField(saved[1], ['alerts'], [...alerts, ...alerts])],
    ['alarms that are a text', withField(saved[1], ['combinations', 0, 'alarms'], 'x')],
    ['alerts that are a number', { ...saved[1], alerts: 5 }],
    ['no detectors', { ...saved[1], detectors: null }],
    ['an empty list of detectors', { ...saved[1], detectors: [] }],
    ['detectors of another shape', { ...saved[1], detectors: [{ detectors: [], changes: [] }] }],
    ['detectors of more groups', withField(saved[1], ['detectors', 0, 'changes'], Array(9).fill(null))],
    ['no states', withField(saved[1], ['present'], undefined)],
    ['too many states', { ...saved[1], present: ['within', 'within'] }],
    ['no count of seen events', withField(saved[1], ['seen'], undefined)],
    ['more seen events than were counted', { ...saved[1], seen: '999999 0' }],
  ] as const) {
    it(`is rejected with ${what}`, () => {
      const restored = RealTimeFairnessTracker.restore(saved[0]);
      expect(() => FairnessDriftAndAlertEngine.restore(given as never, restored, OPTIONS))
        .to.throw('The snapshot cannot be restored: ')
        .with.property('name', 'DataValidationError');
      // A failed attempt leaves nothing behind.
      expect(restored.stream.isObserved).to.equal(false);
    });
  }

  it('is rejected for a tracker with other metrics', () => {
    const other = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g', 'h'] } });
    expect(() => FairnessDriftAndAlertEngine.restore(saved[1], other, OPTIONS)).to.throw(
      'The snapshot cannot be restored: ',
    );
  });

  it('is restored if the engine had not watched a tracker yet', () => {
    const fresh = plain(new FairnessDriftAndAlertEngine(OPTIONS).snapshot());
    expect(FairnessDriftAndAlertEngine.restore(fresh, tracker, OPTIONS).alerts).to.deep.equal([]);
  });
});
