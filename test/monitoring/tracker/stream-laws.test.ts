import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { replay } from '../../../src/monitoring/replay.ts';
import { groupShare, knownGroups } from '../../../src/monitoring/tracker/stream-window.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TensorBatch } from '../../../src/monitoring/tracker/tensor-batch.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';

const HOUR = 3_600_000;

describe('weights of a stream', () => {
  it('with late labels over thousands of events never make a check fail', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], id: 'id', weight: 'w' },
      metrics: ['equal_opportunity_difference', 'demographic_parity_difference', 'accuracy_parity_difference'],
      restartEvery: 100,
      windowSize: 300,
      minGroupSize: 5,
    });
    const engine = new FairnessDriftAndAlertEngine();
    for (let row = 0; row < 4000; row++) {
      tracker.record({ id: row, p: row % 2, g: row % 3 === 0 ? 'x' : 'y', w: [0.1, 0.3, 0.7][row % 3] });
      if (row % 100 < 99) continue;
      // The labels of every second hundred events arrive a hundred events later.
      if (row % 200 === 199) for (let id = row - 99; id <= row; id++) tracker.label(id, 1);
      engine.update(tracker);
    }
    expect(tracker.stream.lateLabels).to.equal(2000);
  });

  it('that are fractions keep rates within 0 and 1 when events leave the window', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], weight: 'w' },
      windowSize: 50,
      minGroupSize: 1,
    });
    const random = createRandom(5);
    for (let row = 0; row < 3000; row++) {
      // Long runs of one decision, so that all events with the other decision have left the window.
      tracker.record({ p: Math.floor(row / 70) % 2, g: row % 2 === 0 ? 'x' : 'y', w: 10 ** (8 * random.next() - 4) });
      for (const { metric, value, low, high } of tracker.metrics()) {
        expect(value ?? 0, `${metric} after ${String(row)}`).to.be.within(0, 1);
        expect(low ?? 0).to.be.at.most(high ?? 1);
      }
    }
  });

  it('of 0 are counted as problems, and a group of only such events suppresses no alarm', () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'], weight: 'w' } });
    const rows = Array.from({ length: 3000 }, (_, row) => ({ p: row % 2, g: row % 2 === 0 ? 'x' : 'y', w: 1 }));
    tracker.recordBatch(rows.flatMap((row) => [row, { p: 1, g: 'z', w: 0 }]));
    tracker.record({ p: 1, g: 'z', w: 0 });
    expect(tracker.faults).to.deep.equal({ zero_weight: 3001 });
    expect(tracker.nEvents).to.equal(3000);
    expect(new FairnessDriftAndAlertEngine().update(tracker).alerts.map(({ groups }) => groups)).to.deep.equal([
      ['y', 'x'],
    ]);
  });
});

describe('errors of a stream', () => {
  const COLUMNS = { yPred: 'p', yTrue: 'y', protected: ['g'] };
  const METRICS = ['mae_parity_difference'];

  it('that always equal their scale have an interval, and raise an alarm', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: COLUMNS,
      metrics: METRICS,
      errorScale: 2,
      restartEvery: 100,
    });
    const engine = new FairnessDriftAndAlertEngine({ limits: { mae_parity_difference: 0.5 } });
    const alerts = Array.from({ length: 30 }, () => {
      tracker.recordBatch({
        p: Array.from({ length: 100 }, (_, row) => (row % 2 === 0 ? 2 : 0)),
        y: Array<number>(100).fill(0),
        g: Array.from({ length: 100 }, (_, row) => (row % 2 === 0 ? 'x' : 'y')),
      });
      return engine.update(tracker).alerts;
    }).flat();
    expect(alerts[0]).to.deep.include({ groups: ['x', 'y'], rates: [2, 0], value: 2 });
    for (const { value, low, high } of alerts) {
      expect(low).to.be.at.most(value);
      expect(high).to.be.at.least(value);
    }
    const complete = tracker.metrics({ window: 'cumulative' }).find(({ group }) => group === 'x');
    expect(complete?.value).to.equal(2);
    expect(complete?.high).to.equal(2);
    expect(complete?.low).to.be.within(1.5, 2);
  });

  it('above their scale count as the scale in all sums', () => {
    const errors = Array.from({ length: 4000 }, (_, row) => (row % 2 === 0 ? (row % 3 === 0 ? 50 : 3) : 0.5));
    const g = errors.map((_, row) => (row % 2 === 0 ? 'x' : 'y'));
    const make = (p: number[]): RealTimeFairnessTracker => {
      const tracker = new RealTimeFairnessTracker({
        columns: COLUMNS,
        metrics: METRICS,
        errorScale: 4,
        clock: () => 5,
      });
      tracker.recordBatch({ p, y: p.map(() => 0), g });
      return tracker;
    };
    const [clipped, capped] = [make(errors), make(errors.map((error) => Math.min(4, error)))];
    expect(clipped.faults['clipped_error']).to.equal(errors.filter((error) => error > 4).length);
    for (const window of ['sliding', 'cumulative'] as const) {
      expect(clipped.metrics({ window })).to.deep.equal(capped.metrics({ window }));
      for (const { value, low, high } of clipped.metrics({ window })) {
        expect(value).to.be.within(low ?? NaN, high ?? NaN);
      }
    }
    const limits = { mae_parity_difference: 1 };
    const { alerts } = new FairnessDriftAndAlertEngine({ limits }).update(clipped);
    expect(alerts).to.have.lengthOf(1);
    expect(alerts[0]?.value).to.be.within(alerts[0]?.low ?? NaN, alerts[0]?.high ?? NaN);
  });
});

describe('the clock of a stream', () => {
  const rows = [
    { p: 1, g: 'x', at: null },
    { p: 0, g: 'y', at: 2 * HOUR },
    { p: 1, g: 'x', at: null },
    { p: 1, g: 'x', at: 3 * HOUR },
  ];

  it('is not set by an initial event without a time', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], timestamp: 'at' },
      clock: () => 1e12,
    });
    for (const row of rows) tracker.record(row);
    expect(tracker.faults).to.deep.equal({ missing_timestamp: 2 });
    expect([tracker.stream.firstTime, tracker.stream.latestTime]).to.deep.equal([2 * HOUR, 3 * HOUR]);
  });

  it('is not set by it in a replay', async () => {
    const { tracker, isSorted } = await replay(rows, {
      tracker: { columns: { yPred: 'p', protected: ['g'], timestamp: 'at' }, clock: () => 1e12 },
    });
    expect(isSorted).to.equal(false);
    expect(tracker.faults).to.deep.equal({ missing_timestamp: 2 });
    expect([tracker.stream.firstTime, tracker.stream.latestTime]).to.deep.equal([2 * HOUR, 3 * HOUR]);
  });

  it('accepts the last valid time, and no later one', () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'], timestamp: 'at' } });
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    tracker.record({ p: 1, g: 'x', at: last });
    tracker.flush();
    tracker.flush();
    expect(tracker.history.index.at(-1)).to.equal(last);
    expect(() => {
      tracker.record({ p: 1, g: 'x', at: last + 1 });
    }).to.throw("The field 'at' must be a time");
    // Microseconds that are read as milliseconds.
    expect(() => {
      tracker.record({ p: 1, g: 'x', at: 1.7e15 });
    }).to.throw("The field 'at' must be a time");
    expect(tracker.nEvents).to.equal(1);
  });
});

describe('a replay', () => {
  it('that is cancelled before it begins counts no row', async () => {
    const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'] } });
    const signal = AbortSignal.abort(new Error('no more'));
    const error: unknown = await replay([{ p: 1, g: 'x' }], { tracker, signal }).catch((cause: unknown) => cause);
    expect(error).to.have.property('message', 'no more');
    expect(tracker.nEvents).to.equal(0);
  });
});

describe('tensors of scores at the threshold', () => {
  for (const isWatched of [false, true]) {
    it(`are thresholded once for totals and window${isWatched ? ', also with detectors' : ''}`, async () => {
      const { tf } = await loadTensorflow({ backend: 'cpu' });
      const tracker = new RealTimeFairnessTracker({
        columns: { yPred: 'p', protected: ['g'] },
        decisionThreshold: 0.7,
        minGroupSize: 1,
        clock: () => 5,
      });
      if (isWatched) new FairnessDriftAndAlertEngine().watch(tracker);
      const batch = { p: tf.tensor1d([0.7, 0.7, 0.69, 0.71]), g: tf.tensor1d([0, 1, 0, 1]) };
      await tracker.recordBatch(batch as unknown as TensorBatch);
      const rates = (window: 'sliding' | 'cumulative'): unknown =>
        tracker.metrics({ window }).map(({ group, value }) => [group, value]);
      const expected = [
        ['0', 0.5],
        ['1', 1],
        [null, 0.5],
      ];
      expect(rates('sliding')).to.deep.equal(expected);
      expect(rates('cumulative')).to.deep.equal(expected);
      for (const tensor of Object.values(batch)) tensor.dispose();
    });
  }
});

describe('a merge', () => {
  const options = { columns: { yPred: 'p', protected: ['g'] }, restartEvery: 20, clock: (): number => 5 };
  const make = (groups: readonly string[], restartEvery = 20): RealTimeFairnessTracker => {
    const tracker = new RealTimeFairnessTracker({ ...options, restartEvery });
    tracker.recordBatch({ p: groups.map((_, row) => row % 2), g: [...groups] });
    return tracker;
  };
  const halves = (count: number): string[] => Array.from({ length: count }, (_, row) => (row % 3 === 0 ? 'x' : 'y'));

  it('with an empty shard keeps the starts, their sums and their events', () => {
    for (const isOwnEmpty of [false, true]) {
      const [full, alone] = [make(halves(400)), make(halves(400))];
      const empty = new RealTimeFairnessTracker(options);
      const merged = isOwnEmpty ? empty.merge(full) : full.merge(empty);
      const startsOf = ({ stream }: RealTimeFairnessTracker): unknown =>
        stream.starts.kept.map(({ index, events, tables }) => [index, events, tables.map(({ data }) => [...data])]);
      expect(startsOf(merged), String(isOwnEmpty)).to.deep.equal(startsOf(alone));
    }
  });

  it('of more than 10,000 groups counts the events without a group @slow', () => {
    const names = (from: number, count: number): string[] =>
      Array.from({ length: count }, (_, row) => `g${String(from + row)}`);
    const merged = make(names(0, 9990), 20_000).merge(make(names(9980, 60), 20_000));
    expect(merged.faults).to.deep.equal({ too_many_groups: 40 });
    expect(merged.nEvents).to.equal(10_050);
    expect(merged.labelCoverage()).to.have.lengthOf(10_000);
  });

  it('never assigns more than the complete error budget to new groups', () => {
    const tracker = make(halves(150));
    const engine = new FairnessDriftAndAlertEngine();
    engine.update(tracker);
    // A group's largest share at any check counts as spent.
    const spent = new Map<number, number>();
    for (let shard = 0; shard < 20; shard++) {
      tracker.merge(make(Array<string>(50).fill(`new ${String(shard)}`)));
      engine.update(tracker);
      const groups = tracker.stream.reader.groups[0]?.labels.length ?? 0;
      for (let group = 0; group < groups; group++) {
        const share = groupShare(group, knownGroups(tracker.stream, 0));
        spent.set(group, Math.max(share, spent.get(group) ?? 0));
      }
    }
    expect(spent.size).to.equal(22);
    expect([...spent.values()].reduce((total, share) => total + share, 0)).to.be.at.most(1 + 1e-12);
  });
});
