import { expect } from 'chai';
import fc from 'fast-check';

import {
  demographicParityDifference,
  equalizedOddsDifference,
  maeParityDifference,
} from '../../../src/metrics/index.ts';
import type { MonitoringRecord, RecordStore } from '../../../src/monitoring/records/monitoring-record.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { columnsOf, type MadeEvent, randomEvents } from './random-events.ts';

const COLUMNS: TrackerOptions['columns'] = {
  yPred: 'p',
  yTrue: 'y',
  protected: ['sex', 'race'],
  intersections: [['sex', 'race']],
  timestamp: 'at',
};

function gapOf(records: readonly MonitoringRecord[], metric: string, attribute: string): MonitoringRecord {
  const found = records.find(
    (record) => record.metric === metric && record.attribute === attribute && record.group === null,
  );
  if (found === undefined) throw new Error(`no record of ${metric} by ${attribute}`);
  return found;
}

function track(events: readonly MadeEvent[], options: Partial<TrackerOptions> = {}): RealTimeFairnessTracker {
  const tracker = new RealTimeFairnessTracker({ columns: COLUMNS, ...options });
  tracker.recordBatch(columnsOf(events));
  return tracker;
}

/** Returns the metrics of all rows, computed by the batch functions of this package. */
function expectGaps(records: readonly MonitoringRecord[], events: readonly MadeEvent[]): void {
  const p = events.map((event) => event.p);
  const y = events.map((event) => event.y);
  const by = {
    sex: events.map(({ sex }) => sex),
    race: events.map(({ race }) => race),
    'sex||race': { sex: events.map(({ sex }) => sex), race: events.map(({ race }) => race) },
  };
  for (const [attribute, sensitive] of Object.entries(by)) {
    const parity = demographicParityDifference(p, sensitive, { withCi: false });
    const odds = equalizedOddsDifference(y, p, sensitive, { withCi: false });
    expect(gapOf(records, 'demographic_parity_difference', attribute).value).to.be.closeTo(parity.value, 1e-12);
    expect(gapOf(records, 'equalized_odds_difference', attribute).value).to.be.closeTo(odds.value, 1e-12);
    for (const [group, rates] of Object.entries(parity.perGroup)) {
      const record = records.find(
        (one) => one.attribute === attribute && one.group === group && one.metric === 'selection_rate',
      );
      expect(record?.value, `${attribute} ${group}`).to.be.closeTo(rates['selection_rate'] as number, 1e-12);
    }
  }
}

describe('a tracked stream', () => {
  const events = randomEvents(6000);

  it('has the metrics of the rows over all events', () => {
    expectGaps(track(events).metrics({ window: 'cumulative' }), events);
  });

  it('has the metrics of the last rows in its sliding window', () => {
    expectGaps(track(events, { windowSize: 2500 }).metrics(), events.slice(-2500));
  });

  it('gives the same results for single events and batches of any size', () => {
    const complete = track(events, { windowSize: 700 }).snapshot();
    for (const size of [1, 7, 499, 1000]) {
      const tracker = new RealTimeFairnessTracker({ columns: COLUMNS, windowSize: 700 });
      for (let from = 0; from < events.length; from += size) {
        const part = events.slice(from, from + size);
        if (size === 1) tracker.record(part[0] as MadeEvent);
        else tracker.recordBatch(columnsOf(part));
      }
      expect(tracker.snapshot(), String(size)).to.deep.equal(complete);
    }
  });

  it('updates the rates when labels arrive later', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { ...COLUMNS, yTrue: undefined, id: 'id' },
      windowSize: 3000,
    });
    tracker.recordBatch(columnsOf(events));
    expect(gapOf(tracker.metrics(), 'equalized_odds_difference', 'sex').value).to.equal(null);
    const outcome = tracker.labelBatch(
      events.map(({ id }) => id),
      events.map(({ y }) => y),
    );
    expect(outcome).to.deep.equal({ taken: events.length, refused: 0 });
    expectGaps(tracker.metrics(), events.slice(-3000));
    expectGaps(tracker.metrics({ window: 'cumulative' }), events);
  });

  it('has the regression errors of the rows, with and without weights', () => {
    const rows = events.map((event, row) => ({
      ...event,
      p: Math.sin(row) * 3,
      y: Math.cos(row * row),
      w: 1 + (row % 3),
    }));
    for (const weight of [undefined, 'w']) {
      const tracker = new RealTimeFairnessTracker({
        columns: { yPred: 'p', yTrue: 'y', protected: ['race'], weight },
        metrics: ['mae_parity_difference'],
        errorScale: 4,
        windowSize: 1000,
      });
      tracker.recordBatch(rows);
      for (const [window, last] of [
        ['cumulative', rows],
        ['sliding', rows.slice(-1000)],
      ] as const) {
        const expected = maeParityDifference(
          last.map(({ y }) => y),
          last.map(({ p }) => p),
          last.map(({ race }) => race),
          { withCi: false, ...(weight === undefined ? {} : { sampleWeight: last.map(({ w }) => w) }) },
        );
        const record = gapOf(tracker.metrics({ window }), 'mae_parity_difference', 'race');
        expect(record.value, window).to.be.closeTo(expected.value, 1e-9);
      }
    }
  });

  it('gives the same results with weights of one as without weights', () => {
    const weighted = new RealTimeFairnessTracker({ columns: { ...COLUMNS, weight: 'w' } });
    weighted.recordBatch({ ...columnsOf(events), w: events.map(() => 1) });
    const [plain, other] = [track(events), weighted].map((tracker) =>
      tracker.metrics().map(({ value, n }) => ({ value, n })),
    );
    expect(other).to.deep.equal(plain);
  });

  it('counts a score of at least the threshold as positive', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 's', protected: ['g'] },
      minGroupSize: 1,
      decisionThreshold: 0.7,
    });
    tracker.recordBatch({ s: [0.7, 0.69, '1', true], g: ['x', 'x', 'y', 'y'] });
    expect(tracker.metrics().map(({ group, value }) => [group, value])).to.deep.equal([
      ['x', 0.5],
      ['y', 1],
      [null, 0.5],
    ]);
  });

  it('has undefined gaps if fewer than two groups are large enough', () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'] } });
    expect(tracker.metrics()).to.deep.include.members([]);
    tracker.recordBatch({
      p: Array<number>(59).fill(1),
      g: Array.from({ length: 59 }, (_, row) => (row < 30 ? 'x' : 'y')),
    });
    const gap = gapOf(tracker.metrics(), 'demographic_parity_difference', 'g');
    expect([gap.value, gap.low, gap.high]).to.deep.equal([null, null, null]);
    tracker.record({ p: 0, g: 'y' });
    expect(gapOf(tracker.metrics(), 'demographic_parity_difference', 'g').value).to.be.closeTo(1 / 30, 1e-12);
  });

  it('uses constant memory for streams of any length', () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'] }, windowSize: 100 });
    const batch = {
      p: Array.from({ length: 5000 }, (_, row) => row % 2),
      g: Array.from({ length: 5000 }, (_, row) => `g${String(row % 3)}`),
    };
    let most = 0;
    for (let turn = 0; turn < 200; turn++) {
      tracker.recordBatch(batch);
      most = Math.max(most, tracker.stream.starts.kept.length);
    }
    expect(tracker.nEvents).to.equal(1_000_000);
    expect(most).to.be.at.most(72);
  });

  it('counts groups named like inherited properties', () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'] }, minGroupSize: 1 });
    tracker.recordBatch({ p: [1, 0, 1], g: ['__proto__', 'constructor', '__proto__'] });
    expect(tracker.labelCoverage().map(({ group, n }) => [group, n])).to.deep.equal([
      ['__proto__', 2],
      ['constructor', 1],
    ]);
    expect(RealTimeFairnessTracker.restore(tracker.snapshot()).labelCoverage()).to.deep.equal(tracker.labelCoverage());
  });
});

describeWithReference('the anytime intervals of a stream', () => {
  it('are those of the beta-binomial mixture at alpha / groups, and the gap uses their outermost ends', () => {
    const { cases } = readVectors('beta_binomial_cs.json') as {
      cases: { successes: number; n: number; alpha: number; lower: number; upper: number }[];
    };
    const alphas = [...new Set(cases.map(({ alpha }) => alpha))];
    let checked = 0;
    for (const alpha of alphas) {
      const known = cases.filter((one) => one.alpha === alpha && one.n >= 1 && one.n <= 2000);
      for (const [index, first] of known.entries()) {
        const second = known[(index + 1) % known.length] as (typeof known)[number];
        const tracker = new RealTimeFairnessTracker({
          columns: { yPred: 'p', protected: ['g'] },
          groups: { g: ['x', 'y'] },
          level: 1 - 2 * alpha,
          minGroupSize: 1,
        });
        for (const [group, { successes, n }] of [
          ['x', first],
          ['y', second],
        ] as const) {
          tracker.recordBatch({
            p: Array.from({ length: n }, (_, row) => Number(row < successes)),
            g: Array<string>(n).fill(group),
          });
        }
        const [x, y, gap] = tracker.metrics({ window: 'cumulative' }) as [
          MonitoringRecord,
          MonitoringRecord,
          MonitoringRecord,
        ];
        expect(x.low).to.be.closeTo(first.lower, 1e-9);
        expect(x.high).to.be.closeTo(first.upper, 1e-9);
        expect(gap.low).to.be.closeTo(Math.max(0, first.lower - second.upper, second.lower - first.upper), 1e-9);
        expect(gap.high).to.be.closeTo(Math.max(first.upper, second.upper) - Math.min(first.lower, second.lower), 1e-9);
        expect(y.n).to.equal(second.n);
        checked++;
      }
    }
    expect(checked).to.be.greaterThan(30);
  });
});

describe('a snapshot of a stream', () => {
  it('resumes exactly from any point', () => {
    const events = randomEvents(900, 5);
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('events' as const), count: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ kind: fc.constant('event' as const) }),
      fc.record({
        kind: fc.constant('label' as const),
        id: fc.integer({ min: 0, max: 900 }),
        y: fc.constantFrom(0, 1),
      }),
    );
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 2, maxLength: 25 }),
        fc.nat(24),
        fc.boolean(),
        (operations, cut, hasWeight) => {
          const make = (): RealTimeFairnessTracker =>
            new RealTimeFairnessTracker({
              columns: {
                ...COLUMNS,
                yTrue: undefined,
                id: 'id',
                weight: hasWeight ? 'at' : undefined,
                timestamp: hasWeight ? undefined : 'at',
              },
              clock: () => 5,
              windowSize: 60,
              labelHorizon: 80,
              restartEvery: 20,
              recordEvery: 50,
            });
          let next = 0;
          const apply = (tracker: RealTimeFairnessTracker, one: (typeof operations)[number], at: number): number => {
            if (one.kind === 'label') {
              tracker.label(one.id, one.y);
              return at;
            }
            if (one.kind === 'event') tracker.record(events[at % 900] as MadeEvent);
            else
              tracker.recordBatch(
                columnsOf(Array.from({ length: one.count }, (_, row) => events[(at + row) % 900] as MadeEvent)),
              );
            return at + (one.kind === 'event' ? 1 : one.count);
          };
          const complete = make();
          let resumed = make();
          for (const [index, one] of operations.entries()) {
            if (index === cut % operations.length) {
              resumed = RealTimeFairnessTracker.restore(
                JSON.parse(JSON.stringify(resumed.snapshot())) as ReturnType<typeof resumed.snapshot>,
                { clock: () => 5 },
              );
            }
            apply(resumed, one, next);
            next = apply(complete, one, next);
          }
          expect(JSON.stringify(resumed.snapshot())).to.equal(JSON.stringify(complete.snapshot()));
          expect(resumed.metrics()).to.deep.equal(complete.metrics());
        },
      ),
      { numRuns: 60, seed: 11 },
    );
  });

  for (const [what, change] of [
    ['nothing', () => undefined],
    ['a different object', () => ({ a: 1 })],
    ['a different version', (snapshot: object) => ({ ...snapshot, version: 99 })],
    ['one without its sums', ({ ...snapshot }: Record<string, unknown>) => ({ ...snapshot, tables: [] })],
    ['one without its groups', ({ ...snapshot }: Record<string, unknown>) => ({ ...snapshot, groups: [] })],
    ['one without its window', ({ ...snapshot }: Record<string, unknown>) => ({ ...snapshot, window: null })],
  ] as const) {
    it(`cannot be restored from ${what}`, () => {
      const snapshot = track(randomEvents(50)).snapshot();
      const given = (change as (value: unknown) => never)(snapshot);
      expect(() => RealTimeFairnessTracker.restore(given)).to.throw('The snapshot cannot be restored');
    });
  }
});

describe('shards of a stream', () => {
  const events = randomEvents(4000, 3);

  it('have the metrics of the full stream when merged, in any order of groups', () => {
    const shards = [0, 1, 2].map((shard) =>
      track(
        events.filter((_, row) => row % 3 === (shard === 0 ? 2 : shard - 1)),
        { windowSize: 90_000 },
      ),
    );
    const [first, second, third] = shards as [
      RealTimeFairnessTracker,
      RealTimeFairnessTracker,
      RealTimeFairnessTracker,
    ];
    const merged = first.merge(second).merge(third);
    expect(merged.nEvents).to.equal(4000);
    expectGaps(merged.metrics({ window: 'cumulative' }), events);
    expectGaps(merged.metrics(), events);
    expect(merged.timestamp).to.equal(new Date(events.at(-1)?.at ?? 0).toISOString());
  });

  it('give up the same share of their windows, and label the remaining events', () => {
    const options = { columns: { ...COLUMNS, yTrue: undefined, id: 'id' }, windowSize: 1000 };
    const [left, right] = [events.slice(0, 2000), events.slice(2000)].map((part) => {
      const tracker = new RealTimeFairnessTracker(options);
      tracker.recordBatch(columnsOf(part));
      return tracker;
    }) as [RealTimeFairnessTracker, RealTimeFairnessTracker];
    left.merge(right);
    const kept = [...events.slice(1500, 2000), ...events.slice(3500)];
    left.labelBatch(
      events.map(({ id }) => id),
      events.map(({ y }) => y),
    );
    expectGaps(left.metrics(), kept);
    expectGaps(left.metrics({ window: 'cumulative' }), events);
  });

  it('cannot be merged if they have different options', () => {
    expect(() => track(events).merge(track(events, { windowSize: 5 }))).to.throw('differ in their windowSize');
    const tracker = track(events);
    expect(() => tracker.merge(tracker)).to.throw('with itself');
  });
});

describe('an event or label that is not counted', () => {
  const make = (options: Partial<TrackerOptions> = {}): RealTimeFairnessTracker =>
    new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], id: 'id', timestamp: 'at' },
      minGroupSize: 1,
      ...options,
    });

  it('is counted by its reason', () => {
    const tracker = make({ groups: { g: ['x', 'y'] } });
    tracker.record({ p: 1, g: 'x', id: 'a', at: 1000 });
    tracker.record({ p: NaN, g: 'x', id: 'b', at: 1001 });
    tracker.record({ p: null, g: 'x', id: 'c', at: 1002 });
    tracker.record({ p: 1, g: 'z', id: 'd', at: 1003 });
    tracker.record({ p: 1, g: null, id: 'e', at: 1004 });
    tracker.record({ p: 1, g: 'y', id: 'a', at: 1005 });
    tracker.record({ p: 0, g: 'y', id: null, at: 1006 });
    tracker.record({ p: 0, g: 'y', id: 'f', at: 500 });
    expect([
      tracker.label('nobody', 1),
      tracker.label('a', NaN),
      tracker.label('a', 1),
      tracker.label('a', 0),
    ]).to.deep.equal([false, false, true, false]);
    expect(tracker.faults).to.deep.equal({
      missing_prediction: 2,
      missing_group: 1,
      unknown_group: 1,
      missing_id: 1,
      duplicate_id: 1,
      unknown_label_id: 1,
      repeated_label: 1,
      missing_label: 1,
      clock_backwards: 1,
    });
    expect(tracker.nEvents).to.equal(5);
    expect(tracker.timestamp).to.equal('1970-01-01T00:00:01.006Z');
    expect(tracker.labelCoverage().map(({ group, n, labelled }) => [group, n, labelled])).to.deep.equal([
      ['x', 1, 1],
      ['y', 2, 0],
    ]);
  });

  it('may be an id beyond the horizon, which can then be used again', () => {
    const tracker = make({ labelHorizon: 2 });
    for (const id of ['a', 'b', 'c']) tracker.record({ p: 1, g: 'x', id, at: 1 });
    expect(tracker.label('a', 1)).to.equal(false);
    tracker.record({ p: 1, g: 'x', id: 'a', at: 1 });
    expect(tracker.faults).to.deep.equal({ unknown_label_id: 1, expired_unlabelled: 2 });
    expect(tracker.nEvents).to.equal(4);
  });

  it('may be an error above its scale, which counts as the scale', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', yTrue: 'y', protected: ['g'] },
      metrics: ['mae_parity_difference'],
      errorScale: 2,
      minGroupSize: 1,
    });
    tracker.recordBatch({ p: [0, 0], y: [1, 5], g: ['x', 'y'] });
    expect(tracker.faults).to.deep.equal({ clipped_error: 1 });
  });

  for (const [what, event, message] of [
    ['a text for a decision', { p: 'yes' }, "The field 'p' must be a number; it is 'yes'."],
    [
      'a number that is not a decision',
      { p: 2 },
      "The field 'p' must be a decision 0 or 1, or a score from 0 to 1; it is 2.",
    ],
    ['an infinite score', { p: Infinity }, "The field 'p' must be finite; it is Infinity."],
    [
      'a group that is an object',
      { p: 1, g: {} },
      "The field 'g' must be a text, a number or a boolean; it is an object.",
    ],
    ['an invalid time', { p: 1, g: 'x', at: 'soon' }, "The field 'at' must be a time"],
  ] as const) {
    it(`may be an event with ${what}, which is an error that changes nothing`, () => {
      const tracker = make();
      const before = tracker.snapshot();
      expect(() => {
        tracker.record({ g: 'x', id: 1, at: 0, ...event });
      }).to.throw(message);
      const rows = [
        { p: 1, g: 'w', id: 2, at: 0 },
        { g: 'x', id: 1, at: 0, ...event },
      ];
      if (what !== 'a group that is an object') {
        expect(() => {
          tracker.recordBatch(rows);
        }).to.throw('in row 2');
      }
      expect(tracker.snapshot()).to.deep.equal(before);
    });
  }

  it('may be a complete batch without a required column', () => {
    expect(() => {
      make().recordBatch({ p: [1], id: [1], at: [0] });
    }).to.throw("no column 'g'");
  });
});

describe('texts and labels of events', () => {
  const columns = { ...COLUMNS, protected: ['sex'], intersections: [], id: 'case', weight: 'w' };
  const event = { case: 1, p: 'yes', y: 'good', sex: 'f', w: 1, at: 0 };
  const make = (options: Partial<TrackerOptions> = {}): RealTimeFairnessTracker =>
    new RealTimeFairnessTracker({ columns, positiveLabel: 'yes', yTruePositiveLabel: 'good', ...options });

  for (const [title, changed, naValues, reason] of [
    ['a prediction', { p: 'unknown' }, ['unknown'], 'missing_prediction'],
    ['a prediction of the usual texts', { p: 'NA' }, undefined, 'missing_prediction'],
    ['a group', { sex: 'unknown' }, ['unknown'], 'missing_group'],
    ['an empty group', { sex: '' }, undefined, 'missing_group'],
    ['a group that is a number', { sex: -1 }, ['-1.0'], 'missing_group'],
    ['a weight', { w: '?' }, ['?'], 'missing_weight'],
    ['a weight that is a number', { w: 999 }, ['999'], 'missing_weight'],
    ['a time', { at: 'never' }, ['never'], 'missing_timestamp'],
    ['an id', { case: 'none' }, ['none'], 'missing_id'],
    ['an empty id', { case: '' }, undefined, 'missing_id'],
  ] as const) {
    it(`may mean a missing value: ${title}, alone and in a batch`, () => {
      const [alone, batch] = [make({ naValues }), make({ naValues })];
      const given = { ...event, ...changed };
      alone.record(given);
      batch.recordBatch(Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value]])));
      expect(alone.faults).to.deep.equal({ [reason]: 1 });
      expect(batch.faults).to.deep.equal({ [reason]: 1 });
    });
  }

  it('count as labels if the list does not have them', () => {
    const tracker = make({ naValues: ['unknown'] });
    tracker.record({ ...event, p: 'NA', y: 'NA' });
    // Both labels of the only event count as 0.
    expect(Array.from(tracker.stream.tables[0]?.data.slice(0, 6) ?? [])).to.deep.equal([1, 0, 0, 0, 0, 0]);
    expect(() => {
      tracker.record({ ...event, case: 2, w: 'NA' });
    }).to.throw("'w' must be a number");
  });

  it('have their own positive label in the truth, also if it arrives later', () => {
    const tracker = make();
    const { y: __, ...later } = event;
    tracker.recordBatch({ case: [1, 2], p: ['yes', 'no'], y: ['bad', 'good'], sex: ['f', 'f'], w: [1, 1], at: [0, 0] });
    tracker.record({ ...later, case: 3 });
    expect(tracker.label(3, 'good')).to.equal(true);
    // By true label and decision: bad and yes, good and no, good and yes.
    expect(Array.from(tracker.stream.tables[0]?.data.slice(0, 6) ?? [])).to.deep.equal([0, 1, 1, 1, 0, 0]);
  });

  it('may be booleans beside labels, as in files', () => {
    const tracker = make({ yTruePositiveLabel: undefined });
    tracker.record({ ...event, y: true });
    tracker.record({ ...event, case: 2, p: 'no', y: false });
    expect(Array.from(tracker.stream.tables[0]?.data.slice(0, 6) ?? [])).to.deep.equal([1, 0, 0, 1, 0, 0]);
  });

  it('are read the same after a restart, and differ between shards that cannot be merged', () => {
    const restored = RealTimeFairnessTracker.restore(make({ naValues: ['unknown'] }).snapshot());
    restored.record({ ...event, sex: 'unknown' });
    expect(restored.faults).to.deep.equal({ missing_group: 1 });
    expect(() => restored.merge(make())).to.throw('naValues');
    expect(() => make({ yTruePositiveLabel: 'bad' }).merge(make())).to.throw('yTruePositiveLabel');
  });

  it('need true labels for a label of the truth', () => {
    const { yTrue: ___, id: ____, ...others } = columns;
    expect(() => make({ columns: others })).to.throw('yTruePositiveLabel names a label of the true labels');
  });
});

describe('the history of a stream', () => {
  it('has a record of every group and gap after every 100 events of a young stream, and stores all of them', () => {
    const written: MonitoringRecord[] = [];
    const store: RecordStore = {
      append: (records) => written.push(...records),
      status: () => ({ written: written.length, pending: 0, dropped: 0, problem: null }),
      close: () => undefined,
    };
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'], timestamp: 'at' }, store });
    for (let row = 0; row < 1000; row++) tracker.record({ p: row % 2, g: row % 3 === 0 ? 'x' : 'y', at: 1000 * row });
    expect(new Set(tracker.history.index)).to.have.lengthOf(10);
    expect(tracker.history.toRecords()).to.deep.equal(written);
    expect(written.filter(({ window, group }) => window === 'cumulative' && group === null)).to.have.lengthOf(10);
    expect(tracker.history.toTable().columnNames).to.not.include('timestamp');
  });
});

describe('options of a tracker', () => {
  for (const [what, options, message] of [
    ['no protected column', { columns: { yPred: 'p', protected: [] } }, 'columns.protected'],
    [
      'a column with two roles',
      { columns: { yPred: 'p', protected: ['p'] } },
      "The column 'p' has two roles: columns.yPred and columns.protected",
    ],
    [
      'an intersection of columns that are not protected',
      { columns: { yPred: 'p', protected: ['g'], intersections: [['g', 'h']] } },
      'columns.intersections',
    ],
    [
      'a metric that needs labels without a label column',
      { columns: { yPred: 'p', protected: ['g'] }, metrics: ['equalized_odds_difference'] },
      'needs true labels',
    ],
    [
      'a ratio',
      { columns: { yPred: 'p', protected: ['g'] }, metrics: ['demographic_parity_ratio'] },
      'cannot be watched',
    ],
    [
      'an unknown metric',
      { columns: { yPred: 'p', protected: ['g'] }, metrics: ['demografic_parity_difference'] },
      "Did you mean 'demographic_parity_difference'",
    ],
    ['an empty window', { columns: { yPred: 'p', protected: ['g'] }, windowSize: 0 }, 'windowSize'],
    [
      'groups of a column that is not protected',
      { columns: { yPred: 'p', protected: ['g'] }, groups: { h: ['x'] } },
      'groups',
    ],
  ] as const) {
    it(`reject ${what}`, () => {
      let text = '';
      try {
        new RealTimeFairnessTracker(options);
      } catch (error) {
        const { message: said, suggestion } = error as { message: string; suggestion?: string };
        text = `${said} ${suggestion ?? ''}`;
      }
      expect(text).to.include(message);
    });
  }
});
