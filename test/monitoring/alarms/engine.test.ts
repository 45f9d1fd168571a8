import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import type { AlertSink, AlertTransition, MonitorReading } from '../../../src/monitoring/alarms/alert-event.ts';
import { BoundFinder } from '../../../src/monitoring/alarms/anytime-bound.ts';
import type { AlertEngineOptions } from '../../../src/monitoring/alarms/engine-options.ts';
import {
  type EngineUpdate,
  FairnessDriftAndAlertEngine,
} from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { takeView } from '../../../src/monitoring/dashboard/take-view.ts';
import { groupShare, growingShare, startShare } from '../../../src/monitoring/tracker/stream-window.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { betaBinomialSequence } from '../../../src/stats/sequential/beta-binomial-sequence.ts';

const METRIC = 'demographic_parity_difference';
const HOUR = 3_600_000;

/** Adds decisions of groups 'x' and 'y', one per second, by their rates. */
class MadeStream {
  readonly tracker: RealTimeFairnessTracker;
  readonly #random = createRandom(7);
  #second = 0;

  constructor(options: Partial<TrackerOptions> = {}) {
    this.tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], timestamp: 'at' },
      groups: { g: ['x', 'y'] },
      windowSize: 2000,
      ...options,
    });
  }

  add(count: number, x: number, y: number): this {
    for (let event = 0; event < count; event++) {
      const isX = this.#random.next() < 0.5;
      this.tracker.record({
        g: isX ? 'x' : 'y',
        p: Number(this.#random.next() < (isX ? x : y)),
        at: 1000 * this.#second++,
      });
    }
    return this;
  }
}

/** A sink that records what it receives. */
class Memory implements AlertSink {
  readonly name = 'memory';
  readonly failures = 0;
  readonly sent: AlertTransition[] = [];
  readings: readonly MonitorReading[] = [];
  send(transition: AlertTransition): void {
    this.sent.push(transition);
  }
  read(readings: readonly MonitorReading[]): void {
    this.readings = readings;
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function stateOf({ states }: EngineUpdate): string | undefined {
  return states['g']?.[METRIC];
}

/** Checks every 50 events while more of a stream is added. */
function follow(
  stream: MadeStream,
  engine: FairnessDriftAndAlertEngine,
  count: number,
  x: number,
  y: number,
): EngineUpdate[] {
  return Array.from({ length: count / 50 }, () => engine.update(stream.add(50, x, y).tracker));
}

describe('the error budget', () => {
  it('is spent once over all starts of an endless stream', () => {
    let sum = 0;
    let growing = 0;
    for (let start = 0; start <= 1_000_000; start++) sum += startShare(start);
    expect(sum).to.be.within(0.999999, 1);
    for (let closed = 0; closed <= 100_000; closed++) growing += growingShare(closed);
    expect(growing).to.be.within(0.9999, 1 + 1e-12);
  });

  it('is spent once over all groups, for any number of later groups', () => {
    for (const early of [1, 2, 9]) {
      let sum = 0;
      for (let group = 0; group < 100_000; group++) sum += groupShare(group, { early, isClosed: false });
      expect(sum).to.be.within(0.9999, 1 + 1e-12);
    }
    expect(groupShare(2, { early: 4, isClosed: true })).to.equal(0.25);
  });
});

describe('the bound of an alarm', () => {
  it('is the largest lower end over all windows, groups and measures, each with its own interval', () => {
    const random = createRandom(3);
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', yTrue: 'y', protected: ['g'] },
      metrics: ['equalized_odds_difference'],
      groups: { g: ['x', 'y', 'z'] },
      restartEvery: 40,
    });
    const rows: { g: string; p: number; y: number }[] = [];
    const metric = tracker.stream.options.metrics[0] as (typeof tracker.stream.options.metrics)[number];
    const finder = new BoundFinder(0, metric, { engine: 0.05, combination: 0.05 });
    const question = { isRestarted: true, firstStart: 0, closed: 0 };
    let above = 0;
    for (let event = 0; event < 1500; event++) {
      const g = ['x', 'y', 'z'][random.integer(3)] as string;
      const y = Number(random.next() < 0.5);
      const row = { g, y, p: Number(random.next() < (g === 'x' && event > 500 ? 0.85 : 0.3)) };
      rows.push(row);
      tracker.record(row);
      if (event % 10 !== 0 || event < 100) continue;
      // Every window computed from its rows, with the plain interval.
      let best = -Infinity;
      for (const { index, events } of tracker.stream.starts.kept) {
        for (const y of [0, 1]) {
          const ends = ['x', 'y', 'z'].flatMap((group) => {
            const own = rows.slice(events).filter((one) => one.g === group && one.y === y);
            if (own.length < 30) return [];
            const alpha = (0.05 * (index === 0 ? 0.5 : 0.5 / (index * (index + 1)))) / 2 / 3;
            return [betaBinomialSequence(own.filter(({ p }) => p === 1).length, own.length, alpha)];
          });
          if (ends.length < 2) continue;
          best = Math.max(best, Math.max(...ends.map(([low]) => low)) - Math.min(...ends.map(([, high]) => high)));
        }
      }
      const found = finder.strongest(tracker.stream, question, 0.1);
      expect(found?.low ?? null, String(event)).to.equal(best > 0.1 ? best : null);
      above += Number(best > 0.1);
    }
    expect(above).to.be.within(20, 130);
  });

  it('does not use the gap before the alarm was resolved', () => {
    const stream = new MadeStream().add(4000, 0.7, 0.3);
    const engine = new FairnessDriftAndAlertEngine();
    const [alert] = engine.update(stream.tracker).alerts;
    engine.resolve(alert?.id ?? '');
    expect(follow(stream, engine, 3000, 0.5, 0.5).flatMap(({ alerts }) => alerts)).to.deep.equal([]);
  });
});

describe('an alert engine', () => {
  it('raises one alarm for one breach, with its start and its share', () => {
    const stream = new MadeStream();
    const engine = new FairnessDriftAndAlertEngine();
    engine.watch(stream.tracker);
    expect(follow(stream, engine, 5000, 0.5, 0.5).flatMap(({ alerts }) => alerts)).to.deep.equal([]);
    const updates = follow(stream, engine, 3000, 0.7, 0.3);
    const raised = updates.flatMap(({ alerts }) => alerts);
    const [alert] = raised;
    expect(new Set(raised.map(({ id }) => id))).to.have.lengthOf(1);
    expect(alert).to.deep.include({
      metric: METRIC,
      attribute: 'g',
      groups: ['x', 'y'],
      measure: 'selection_rate',
      tier: 'alarm',
      limit: 0.1,
    });
    expect(alert?.low).to.be.greaterThan(0.1);
    expect(alert?.value).to.be.greaterThan(alert?.low ?? 1);
    expect(alert?.share).to.deep.include({ engine: 0.05, combination: 0.05 });
    // The change was at event 5,000, at 5,000 seconds; starts are 500 events apart.
    expect(Date.parse(alert?.changedAt ?? '')).to.be.within(4_400_000, 5_600_000);
    expect(alert?.driftScore).to.be.within(0.1, 0.3);
    expect(stateOf(updates.at(-1) as EngineUpdate)).to.equal('breach');
    expect(alert?.reason).to.match(/^By g, the selection rate of 'x' is 0\.\d{3} and that of 'y' 0\.\d{3} over /);
    expect(Object.isFrozen(alert)).to.equal(true);
  });

  it('finds no breach in a gap within the limit, and reports the state within', () => {
    const stream = new MadeStream({ windowSize: 10_000 });
    const engine = new FairnessDriftAndAlertEngine();
    const updates = follow(stream, engine, 10_000, 0.5, 0.45);
    expect(updates.flatMap(({ alerts }) => alerts)).to.deep.equal([]);
    expect(stateOf(updates.at(-1) as EngineUpdate)).to.equal('within');
  });

  it('is inconclusive with few events', () => {
    const stream = new MadeStream();
    const engine = new FairnessDriftAndAlertEngine();
    expect(stateOf(engine.update(stream.tracker))).to.equal('unknown');
    expect(stateOf(engine.update(stream.add(40, 0.5, 0.5).tracker))).to.equal('unknown');
    expect(stateOf(engine.update(stream.add(300, 0.5, 0.42).tracker))).to.equal('unknown');
  });

  it('estimates how many more events are needed if the rates stay the same', () => {
    // 150 of each, none selected: only the upper end of the gap is above the limit of 0.01.
    const stream = new MadeStream().add(300, 0, 0);
    const engine = new FairnessDriftAndAlertEngine({ limits: { [METRIC]: 0.01 } });
    const [view] = takeView(stream.tracker, engine).watched;
    const [, most = NaN] = /from 0\.000 to (0\.\d+) that/.exec(view?.sentence ?? '')?.map(Number) ?? [];
    const [, more = NaN] =
      /about ([\d,]+) more events of group/.exec((view?.sentence ?? '').replaceAll(',', ''))?.map(Number) ?? [];
    // A half-width shrinks with the square root of n, so n must grow by (half / distance)^2.
    expect(more / 150).to.be.closeTo((most / 0.01) ** 2 - 1, 0.15 * (most / 0.01) ** 2);
  });

  it('reports a watch once after it has persisted, and sends nothing to sinks', () => {
    const sink = new Memory();
    const stream = new MadeStream({ windowSize: 1000 });
    const engine = new FairnessDriftAndAlertEngine({ sinks: [sink], persistence: 4 });
    stream.add(350, 0.65, 0.4);
    const updates = Array.from({ length: 6 }, () => engine.update(stream.add(2, 0.65, 0.4).tracker));
    expect(updates.map(stateOf)).to.deep.equal(Array<string>(6).fill('watch'));
    expect(updates.map(({ watches }) => watches.length)).to.deep.equal([0, 0, 0, 1, 0, 0]);
    expect(updates[3]?.watches[0]).to.deep.include({ tier: 'watch', share: null, id: `g:${METRIC}:watch:1` });
    expect(sink.sent).to.deep.equal([]);
    expect(sink.readings[0]).to.deep.include({ attribute: 'g', metric: METRIC, state: 'watch', limit: 0.1 });
  });

  it('repeats an open alarm after the cool-down, unless it was acknowledged', () => {
    const sink = new Memory();
    const stream = new MadeStream();
    const engine = new FairnessDriftAndAlertEngine({ sinks: [sink], cooldownMillis: HOUR / 2 });
    follow(stream, engine, 6000, 0.6, 0.35);
    const kinds = sink.sent.map(({ change }) => change);
    expect(kinds[0]).to.equal('raised');
    const repeats = sink.sent
      .filter(({ change }) => change === 'repeated')
      .map(({ timestamp }) => Date.parse(timestamp));
    expect(repeats.length).to.be.within(2, 6);
    engine.acknowledge(sink.sent[0]?.alert.id ?? '');
    follow(stream, engine, 6000, 0.6, 0.35);
    expect(sink.sent.map(({ change }) => change).slice(kinds.length)).to.deep.equal(['acknowledged']);
    expect(engine.alerts[0]).to.deep.include({ isOpen: true, isAcknowledged: true });
  });

  it('repeats an alarm immediately when its severity increases', () => {
    const stream = new MadeStream();
    const engine = new FairnessDriftAndAlertEngine({ cooldownMillis: Infinity });
    const alerts = follow(stream, engine, 20_000, 0.7, 0.3).flatMap((update) => update.alerts);
    expect(alerts.map(({ severity }) => severity)).to.deep.equal(['low', 'high', 'critical']);
    for (const { confidence, severityScore, value, low, high, limit } of alerts) {
      expect(confidence).to.be.closeTo(1 - Math.min(1, (high - low) / 2 / limit), 1e-12);
      expect(severityScore).to.be.closeTo(confidence * (value - limit), 1e-12);
    }
  });

  it('clears an alarm when a window of later events is within the limit, and raises a new one for a new breach', () => {
    const sink = new Memory();
    const stream = new MadeStream({ windowSize: 4000 });
    const engine = new FairnessDriftAndAlertEngine({ sinks: [sink], cooldownMillis: Infinity });
    follow(stream, engine, 2000, 0.7, 0.3);
    const cleared = follow(stream, engine, 10_000, 0.5, 0.5);
    expect(stateOf(cleared.at(-1) as EngineUpdate)).to.equal('within');
    expect(sink.sent.at(-1)?.change).to.equal('cleared');
    follow(stream, engine, 4000, 0.3, 0.7);
    expect(sink.sent.at(-1)?.alert).to.deep.include({ id: `g:${METRIC}:2`, groups: ['y', 'x'] });
    expect(engine.alerts.map(({ isOpen }) => isOpen)).to.deep.equal([false, true]);
  });

  it('divides its budget among all attributes and metrics', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', yTrue: 'y', protected: ['a', 'b'], intersections: [['a', 'b']] },
      groups: { a: ['0', '1'] },
    });
    tracker.recordBatch({
      p: Array.from({ length: 2000 }, (_, row) => row % 2),
      y: Array.from({ length: 2000 }, (_, row) => Number(row % 8 < 4)),
      a: Array.from({ length: 2000 }, (_, row) => row % 2),
      b: Array.from({ length: 2000 }, () => 'one'),
    });
    const engine = new FairnessDriftAndAlertEngine({ alpha: 0.06 });
    const { alerts, states } = engine.update(tracker);
    expect(alerts.map(({ attribute, metric }) => [attribute, metric])).to.deep.equal([
      ['a', METRIC],
      ['a', 'equalized_odds_difference'],
      ['a||b', METRIC],
      ['a||b', 'equalized_odds_difference'],
    ]);
    const [parity, odds] = alerts;
    expect(parity?.share?.combination).to.be.closeTo(0.01, 1e-15);
    expect(parity?.share?.window).to.be.closeTo(0.005, 1e-15);
    expect(parity?.share?.group).to.be.closeTo(0.0025, 1e-15);
    expect(odds?.share?.group).to.be.closeTo(0.00125, 1e-15);
    expect(states['b']).to.deep.equal({ [METRIC]: 'unknown', equalized_odds_difference: 'unknown' });
  });

  it('continues from a snapshot as if it had never stopped', () => {
    const options: AlertEngineOptions = { detectors: ['adwin', 'page_hinkley'], cooldownMillis: HOUR / 4 };
    const complete = new MadeStream();
    const completeEngine = new FairnessDriftAndAlertEngine(options);
    completeEngine.watch(complete.tracker);
    const parts = new MadeStream();
    let engine = new FairnessDriftAndAlertEngine(options);
    engine.watch(parts.tracker);
    const rates = [
      [0.5, 0.5],
      [0.7, 0.3],
      [0.5, 0.5],
      [0.2, 0.6],
    ] as const;
    let tracker = parts.tracker;
    for (const [x, y] of rates) {
      const expected = follow(complete, completeEngine, 2500, x, y);
      const found: EngineUpdate[] = [];
      for (let check = 0; check < 50; check++) {
        // One stream of random numbers, although the tracker changes.
        Object.assign(parts, { tracker });
        found.push(engine.update(parts.add(50, x, y).tracker));
      }
      expect(found).to.deep.equal(expected);
      const saved = JSON.parse(JSON.stringify([tracker.snapshot(), engine.snapshot()])) as [
        ReturnType<typeof tracker.snapshot>,
        ReturnType<typeof engine.snapshot>,
      ];
      tracker = RealTimeFairnessTracker.restore(saved[0]);
      engine = FairnessDriftAndAlertEngine.restore(saved[1], tracker, options);
    }
    expect(engine.alerts.length).to.be.greaterThan(1);
  });

  it('does nothing if it is updated repeatedly without a new event', () => {
    const stream = new MadeStream().add(3000, 0.7, 0.3);
    const engine = new FairnessDriftAndAlertEngine();
    expect(engine.update(stream.tracker).alerts).to.have.lengthOf(1);
    const again = engine.update(stream.tracker);
    expect(again.alerts).to.deep.equal([]);
    expect(stateOf(again)).to.equal('breach');
  });

  it('monitors regression errors if their scale is known', () => {
    for (const errorScale of [undefined, 10]) {
      const tracker = new RealTimeFairnessTracker({
        columns: { yPred: 'p', yTrue: 'y', protected: ['g'] },
        metrics: ['mae_parity_difference'],
        errorScale,
      });
      const random = createRandom(1);
      const rows = Array.from({ length: 4000 }, (_, row) => ({
        g: row % 2 === 0 ? 'x' : 'y',
        y: 0,
        p: random.next() * (row % 2 === 0 ? 6 : 2),
      }));
      tracker.recordBatch(rows);
      const { alerts, states } = new FairnessDriftAndAlertEngine({ limits: { mae_parity_difference: 1 } }).update(
        tracker,
      );
      expect(states['g']).to.deep.equal({ mae_parity_difference: errorScale === undefined ? 'watch' : 'breach' });
      expect(alerts.map(({ groups, measure }) => [groups, measure])).to.deep.equal(
        errorScale === undefined ? [] : [[['x', 'y'], 'mean_absolute_error']],
      );
    }
  });

  for (const [what, act, message] of [
    ['a limit below 0', () => new FairnessDriftAndAlertEngine({ limits: { [METRIC]: -1 } }), `limits.${METRIC}`],
    ['an alpha of 1', () => new FairnessDriftAndAlertEngine({ alpha: 1 }), 'alpha'],
    ['a persistence of 0', () => new FairnessDriftAndAlertEngine({ persistence: 0 }), 'persistence'],
    [
      'a cool-down that is not a number',
      () => new FairnessDriftAndAlertEngine({ cooldownMillis: NaN }),
      'cooldownMillis',
    ],
    ['windows of another kind', () => new FairnessDriftAndAlertEngine({ windows: 'tumbling' as never }), 'windows'],
    [
      'an unknown detector',
      () => {
        new FairnessDriftAndAlertEngine({ detectors: ['adwn' as never] }).update(new MadeStream().add(1, 1, 1).tracker);
      },
      'adwn',
    ],
    [
      'a limit for a metric that is not monitored',
      () => {
        new FairnessDriftAndAlertEngine({ limits: { equalized_odds_difference: 0.1 } }).watch(new MadeStream().tracker);
      },
      "There is a limit for 'equalized_odds_difference'",
    ],
    [
      'a second tracker',
      () => {
        const engine = new FairnessDriftAndAlertEngine();
        engine.watch(new MadeStream().tracker);
        engine.watch(new MadeStream().tracker);
      },
      'already watches another tracker',
    ],
    [
      'an unknown alarm id',
      () => {
        new FairnessDriftAndAlertEngine().resolve('x');
      },
      "no open alert with the id 'x'",
    ],
    [
      'a snapshot of something else',
      () => FairnessDriftAndAlertEngine.restore({} as never, new MadeStream().tracker),
      'cannot be restored',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(act).to.throw(message);
    });
  }
});
