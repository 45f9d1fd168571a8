import { expect } from 'chai';

import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import {
  RealTimeFairnessTracker,
  type TrackerSnapshot,
} from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { column, JUNK, pathsOf, plain, withField } from './hostile-values.ts';
import { columnsOf, randomEvents } from './random-events.ts';

const RATES: TrackerOptions = {
  columns: {
    yPred: 'p',
    protected: ['sex', 'race'],
    intersections: [['sex', 'race']],
    id: 'id',
    timestamp: 'at',
    weight: 'w',
  },
  windowSize: 40,
  labelHorizon: 25,
  restartEvery: 30,
  recordEvery: 100,
  minGroupSize: 2,
};
const ERRORS: TrackerOptions = {
  columns: { yPred: 'p', yTrue: 'y', protected: ['sex'] },
  metrics: ['mae_parity_difference'],
  groups: { sex: ['female', 'male'] },
  errorScale: 4,
  windowSize: 20,
  restartEvery: 30,
  recordEvery: 50,
};

function snapshotOf(options: TrackerOptions): TrackerSnapshot {
  const tracker = new RealTimeFairnessTracker({ ...options, clock: () => 5 });
  const events = randomEvents(100, 3);
  tracker.recordBatch({ ...columnsOf(events), w: events.map((_, row) => 0.5 + (row % 3)) });
  for (let id = 70; id < 85; id++) tracker.label(id, id % 2);
  return plain(tracker.snapshot());
}

/** Restores a snapshot and uses the result. */
function use(snapshot: TrackerSnapshot): void {
  const tracker = RealTimeFairnessTracker.restore(snapshot, { clock: () => 5 });
  tracker.record({ ...randomEvents(1)[0], id: 'new', w: 1 });
  tracker.label(99, 1);
  tracker.metrics();
  tracker.metrics({ window: 'cumulative' });
  tracker.labelCoverage();
  tracker.flush();
  tracker.snapshot();
}

describe('an untrusted snapshot of a tracker', () => {
  const rates = snapshotOf(RATES);
  const errors = snapshotOf(ERRORS);

  for (const [what, snapshot] of [
    ['rates', rates],
    ['errors', errors],
  ] as const) {
    it(`is restored, or rejected with a toolkit error, for any value of a field in one of ${what}`, () => {
      use(snapshot);
      for (const path of pathsOf(snapshot)) {
        for (const given of JUNK) {
          try {
            use(withField(snapshot, path, given));
          } catch (cause) {
            const where = `${path.join('.')} = ${JSON.stringify(given)}: ${String(cause)}`;
            expect(FairnessToolkitError.isInstance(cause), where).to.equal(true);
            expect(String(cause), where).to.include('The snapshot cannot be restored');
          }
        }
      }
    });
  }

  const [female, male] = ['female', 'male'];
  const stride = 18;
  const groups = rates.groups[0]?.length ?? 0;
  const sums = (change: (values: Float64Array) => void): string => {
    const bytes = Buffer.from(rates.tables[0] ?? '', 'base64');
    const values = new Float64Array(new Uint8Array(bytes).buffer);
    change(values);
    return column(values);
  };

  for (const [what, path, given] of [
    ['a window of 1e15 events', ['options', 'windowSize'], 1e15],
    ['a label horizon of 1e15', ['options', 'labelHorizon'], 1e15],
    ['no options', ['options'], null],
    ['no columns', ['options', 'columns'], undefined],
    ['a first time outside the range of Date', ['firstTime'], 1e300],
    ['a latest time outside the range of Date', ['latestTime'], 1e300],
    ['a latest time before the first', ['latestTime'], 0],
    ["'early' with a text", ['early'], ['x', 1, 1]],
    ["'early' with more groups than there are", ['early', 0], 77],
    ["'early' that is too short", ['early'], [1]],
    ['events that are a text', ['events'], '50'],
    ['events below 0', ['events'], -5],
    ['no events', ['events'], null],
    ['fewer events than were counted', ['events'], 20],
    ['a code of an unknown group', ['window', 'codes', 0], column(new Int32Array(40).fill(99))],
    ['a code below all reserved codes', ['window', 'codes', 0], column(new Int32Array(40).fill(-7))],
    ['other codes than were counted', ['window', 'codes', 0], column(new Int32Array(40))],
    ['invalid cells', ['window', 'cells'], column(new Uint8Array(40).fill(77))],
    ['a short column of cells', ['window', 'cells'], column(new Uint8Array(39))],
    ['a long column of weights', ['window', 'weights'], column(new Float64Array(41).fill(1))],
    ['a weight below 0', ['window', 'weights'], column(new Float64Array(40).fill(-1))],
    ['no weights', ['window', 'weights'], null],
    ['errors that are not monitored', ['window', 'errors'], column(new Float64Array(40))],
    ['sums below 0', ['tables', 0], column(new Float64Array(stride * groups).fill(-1))],
    ['sums that are not numbers', ['tables', 0], column(new Float64Array(stride * groups).fill(NaN))],
    ['an infinite weight', ['tables', 0], sums((values) => (values[8] = Infinity))],
    ['fewer events than its starts', ['tables', 0], sums((values) => values.fill(0))],
    ['fractions of events', ['tables', 0], sums((values) => (values[5] = 0.5))],
    ['no starts', ['starts', 'kept'], []],
    ['starts without sums', ['starts', 'kept', 1, 'tables'], []],
    ['starts with sums of other groups', ['starts', 'kept', 1, 'tables', 0], column(new Float64Array(stride * 9))],
    ['starts with sums of part of a group', ['starts', 'kept', 1, 'tables', 0], column(new Float64Array(5))],
    ['a next start that is a text', ['starts', 'next'], 'x'],
    ['a next start in the past', ['starts', 'next'], 1],
    ['an invalid cell of a waiting event', ['waiting', 0, 'cell'], 44],
    ['an unknown group of a waiting event', ['waiting', 0, 'codes', 0], 99],
    ['too few groups of a waiting event', ['waiting', 0, 'codes'], [0]],
    ['a waiting event in the future', ['waiting', 0, 'event'], 1e6],
    ['two waiting events with the same id', ['waiting', 0, 'id'], rates.waiting?.[1]?.id],
    ['more waiting events than the horizon', ['options', 'labelHorizon'], 5],
    ['no waiting events', ['waiting'], null],
    ['a duplicate group', ['groups', 0], [female, female]],
    ['an additional group', ['groups', 0], [female, male, 'x']],
    ['intersections of unknown groups', ['groups', 2, 0], [0, 88]],
    ['a duplicate intersection', ['groups', 2, 0], rates.groups[2]?.[1]],
    ['late labels below 0', ['lateLabels'], -1],
    ['an invalid history', ['history'], { kind: 'x' }],
    ['an unknown reason', ['faults', 'x'], 1],
    ['a count of problems below 0', ['faults', 'missing_group'], -1],
    ['a store in its options', ['options', 'store'], 5],
  ] as const) {
    it(`is rejected with ${what}`, () => {
      expect(() => RealTimeFairnessTracker.restore(withField(rates, path, given)))
        .to.throw('The snapshot cannot be restored: ')
        .with.property('name', 'DataValidationError');
    });
  }

  it('is rejected with a different declared group', () => {
    expect(() => RealTimeFairnessTracker.restore(withField(errors, ['groups', 0], ['female', 'x']))).to.throw(
      'The snapshot cannot be restored: ',
    );
  });

  it('is rejected with errors above their scale', () => {
    const given = column(new Float64Array(20).fill(9));
    expect(() => RealTimeFairnessTracker.restore(withField(errors, ['window', 'errors'], given))).to.throw(
      'The snapshot cannot be restored: ',
    );
  });

  it('is restored after a merge, late labels and events without a time', () => {
    for (const options of [RATES, { ...RATES, windowSize: 1000 }]) {
      const shards = [0, 1].map((shard) => {
        const tracker = new RealTimeFairnessTracker(options);
        const events = randomEvents(130, 4 + shard).map((event) => ({
          ...event,
          at: null,
          id: `${String(shard)} ${String(event.id)}`,
        }));
        tracker.recordBatch(events.map((event, row) => ({ ...event, w: 0.1 * (1 + (row % 7)) })));
        for (let id = 100; id < 125; id++) tracker.label(`${String(shard)} ${String(id)}`, id % 2);
        return tracker;
      }) as [RealTimeFairnessTracker, RealTimeFairnessTracker];
      const merged = plain(shards[0].merge(shards[1]).snapshot());
      expect(plain(RealTimeFairnessTracker.restore(merged).snapshot())).to.deep.equal(merged);
    }
  });
});
