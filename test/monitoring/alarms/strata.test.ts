import { expect } from 'chai';

import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import type { AlertEvent } from '../../../src/monitoring/alarms/alert-event.ts';
import type { AlertEngineOptions } from '../../../src/monitoring/alarms/engine-options.ts';
import {
  type EngineSnapshot,
  FairnessDriftAndAlertEngine,
} from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { StratumPairs } from '../../../src/monitoring/alarms/stratum-pairs.ts';
import { replay } from '../../../src/monitoring/replay.ts';
import {
  RealTimeFairnessTracker,
  type TrackerSnapshot,
} from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { JUNK, pathsOf, plain, withField } from '../tracker/hostile-values.ts';
import { simulateStream, STRATA_CELLS } from '../../../scripts/study/strata/simulate.ts';

const METRIC = 'demographic_parity_difference';
const HOUR_MILLIS = 3_600_000;

type Event = Readonly<Record<string, unknown>>;

/** Draws events whose rate and group mix follow a daily cycle together, with a gap between the groups. */
function drawEvents(count: number, gap: number, seed = 1): Event[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const cycle = Math.sin((2 * Math.PI * index) / 1000);
    const isFirst = random.next() < 0.5 + 0.4 * cycle;
    const rate = 0.5 + 0.25 * cycle + (isFirst ? gap / 2 : -gap / 2);
    return {
      id: index,
      at: index * 86_400,
      region: `r${index % 4}`,
      g: isFirst ? 'x' : 'y',
      p: Number(random.next() < rate),
    };
  });
}

const COLUMNS = { yPred: 'p', protected: ['g'], timestamp: 'at' };

function watch(
  events: readonly Event[],
  engineOptions: AlertEngineOptions,
  trackerOptions: Partial<TrackerOptions> = {},
): { tracker: RealTimeFairnessTracker; engine: FairnessDriftAndAlertEngine; alerts: AlertEvent[] } {
  const tracker = new RealTimeFairnessTracker({ columns: COLUMNS, ...trackerOptions });
  const engine = new FairnessDriftAndAlertEngine({ detectors: [], ...engineOptions });
  engine.watch(tracker);
  const alerts: AlertEvent[] = [];
  events.forEach((event, index) => {
    tracker.record(event);
    if (index % 100 === 99) alerts.push(...engine.update(tracker).alerts);
  });
  return { tracker, engine, alerts };
}

/**
 * Pairs the events of two groups within strata, first come first served, with no limit on waiting events. An event waits
 * only if its partner's group has been seen.
 */
function pairByHand(
  events: readonly Event[],
  strataOf: (event: Event) => unknown,
): { n: number; x: number; y: number; discordant: number } {
  const waiting = new Map<unknown, Record<string, number[]>>();
  const found = { n: 0, x: 0, y: 0, discordant: 0 };
  const seen = new Set<unknown>();
  for (const event of events) {
    seen.add(event['g']);
    const queues = waiting.get(strataOf(event)) ?? { x: [], y: [] };
    waiting.set(strataOf(event), queues);
    const [own, other] = event['g'] === 'x' ? ['x', 'y'] : ['y', 'x'];
    const partner = queues[other]?.shift();
    if (partner === undefined) {
      if (seen.size === 2) queues[own]?.push(event['p'] as number);
      continue;
    }
    const [x, y] = own === 'x' ? [event['p'] as number, partner] : [partner, event['p'] as number];
    found.n++;
    found.x += x;
    found.y += y;
    found.discordant += Number(x !== y);
  }
  return found;
}

describe('gaps within strata', () => {
  it('are not in breach if rates and shares change together and every instant is fair', () => {
    const { alerts, engine } = watch(drawEvents(8000, 0), { within: { time: 3600 } });
    const plain = alerts.filter(({ within }) => within?.isReason === false);
    expect(plain, 'the gap of the complete stream raises an alarm').to.not.be.empty;
    expect(plain[0]?.reason).to.match(/Within strata, the gap is 0\.\d{3} .*not shown to be above the limit of 0\.1/);
    expect(plain[0]?.within).to.deep.include({ isAbove: false });
    expect(alerts.filter(({ within }) => within?.isReason === true)).to.be.empty;
    expect(engine.alerts.every(({ alert }) => !alert.id.includes(':within:'))).to.equal(true);
  });

  for (const within of [{ time: 3600 }, 'region'] as const) {
    it(`raise an alarm for a true gap, within ${JSON.stringify(within)}`, () => {
      const { alerts, engine, tracker } = watch(drawEvents(6000, 0.3), { within });
      const [alarm] = alerts.filter((alert) => alert.within?.isReason === true);
      expect(alarm?.id).to.equal(`g:${METRIC}:within:1`);
      expect(alarm?.low).to.be.above(0.1);
      expect(alarm?.groups).to.deep.equal(['x', 'y']);
      expect(alarm?.share?.combination).to.equal(0.025);
      expect(alarm?.reason).to.match(/^By g and within strata, the selection rate of 'x'/);
      const { states } = engine.update(tracker);
      expect(states['g']?.[`${METRIC}_within_strata`]).to.equal('breach');
    });
  }

  it('have pairs that equal a first-come pairing by hand', () => {
    for (const [within, strataOf] of [
      [{ kind: 'column', column: 'region' }, (event: Event) => event['region']],
      [{ kind: 'time', millis: HOUR_MILLIS }, (event: Event) => Math.floor((event['at'] as number) / HOUR_MILLIS)],
    ] as const) {
      // Equal shares, so that no queue is full.
      const events = drawEvents(3000, 0.2).map((event, index) => ({ ...event, g: index % 3 === 0 ? 'x' : 'y' }));
      const tracker = new RealTimeFairnessTracker({ columns: COLUMNS });
      const pairs = new StratumPairs(tracker.stream, within);
      pairs.begin();
      const some = within.kind === 'time' ? events : events.slice(0, 120);
      for (const event of some) tracker.record(event);
      const measure = tracker.stream.options.metrics[0]?.measures[0];
      if (measure === undefined) throw new Error('no measure');
      const [found] = pairs.pairsSince(0, 0, measure);
      const expected = pairByHand(some, strataOf);
      expect(found).to.deep.equal({
        groups: [0, 1],
        n: expected.n,
        positives: [expected.x, expected.y],
        discordant: expected.discordant,
      });
    }
  });

  it('get nothing from strata with a single group', () => {
    const events = drawEvents(4000, 0.4).map((event) => ({ ...event, region: event['g'] === 'x' ? 'a' : 'b' }));
    const { engine, tracker, alerts } = watch(events, { within: 'region' });
    expect(alerts.some(({ within }) => within?.isReason === true)).to.equal(false);
    expect(alerts.some(({ within }) => within?.isReason === false)).to.equal(true);
    expect(alerts[0]?.within).to.deep.equal({
      isReason: false,
      isAbove: false,
      value: null,
      low: null,
      high: null,
      n: 0,
    });
    expect(engine.update(tracker).states['g']?.[`${METRIC}_within_strata`]).to.equal('unknown');
  });

  it('continue exactly from a snapshot that went through JSON, at any event', () => {
    const events = drawEvents(5000, 0.25);
    for (const within of [{ time: 3600 }, 'region'] as const) {
      const whole = watch(events, { within });
      const first = watch(events.slice(0, 1234), { within });
      const saved = JSON.parse(
        JSON.stringify({ tracker: first.tracker.snapshot(), engine: first.engine.snapshot() }),
      ) as {
        tracker: ReturnType<RealTimeFairnessTracker['snapshot']>;
        engine: ReturnType<FairnessDriftAndAlertEngine['snapshot']>;
      };
      const tracker = RealTimeFairnessTracker.restore(saved.tracker);
      const engine = FairnessDriftAndAlertEngine.restore(saved.engine, tracker, { detectors: [], within });
      events.slice(1234).forEach((event, index) => {
        tracker.record(event);
        if ((index + 1234) % 100 === 99) engine.update(tracker);
      });
      expect(engine.snapshot()).to.deep.equal(whole.engine.snapshot());
      expect(engine.alerts).to.deep.equal(whole.engine.alerts);
    }
  });

  it('of labels that arrive later are those of labels that come with the event', () => {
    const events = drawEvents(4000, 0.3);
    const options = { metrics: ['equal_opportunity_difference'] };
    const engineOptions = { within: { time: 3600 } };
    const early = watch(
      events.map((event) => ({ ...event, y: 1 })),
      engineOptions,
      { columns: { ...COLUMNS, yTrue: 'y' }, ...options },
    );
    const late = new RealTimeFairnessTracker({ columns: { ...COLUMNS, id: 'id', yTrue: 'y' }, ...options });
    const engine = new FairnessDriftAndAlertEngine({ detectors: [], ...engineOptions });
    engine.watch(late);
    for (let from = 0; from < events.length; from += 10) {
      for (const event of events.slice(from, from + 10)) late.record(event);
      for (const event of events.slice(from, from + 10)) late.label(event['id'] as number, 1);
      if (from % 100 === 90) engine.update(late);
    }
    const sums = ({ strata }: ReturnType<FairnessDriftAndAlertEngine['snapshot']>): unknown => strata?.pairs.sums;
    expect(sums(engine.snapshot())).to.deep.equal(sums(early.engine.snapshot()));
    const found = [...engine.alerts, ...early.engine.alerts].filter(({ alert }) => alert.within?.isReason === true);
    expect(found).to.have.lengthOf(2);
  });

  it('are the same in batches, in a replay, and event by event', async () => {
    const events = drawEvents(4000, 0.3);
    const engine = { detectors: [], within: 'region' };
    const single = watch(events, engine);
    const replayed = await replay(events, { tracker: { columns: COLUMNS }, engine });
    const own = ({ alert }: { alert: AlertEvent }): boolean => alert.within?.isReason === true;
    expect(replayed.alertHistory.filter(own)).to.deep.equal(single.engine.alerts.filter(own));
    expect(replayed.alertHistory.filter(own)).to.not.be.empty;
  });

  it('keep a bounded state over ten thousand strata', () => {
    const events = Array.from({ length: 20_000 }, (_, index) => ({
      at: index * HOUR_MILLIS,
      region: `r${index % 10_000}`,
      g: index % 2 === 0 ? 'x' : 'y',
      p: 1,
    }));
    for (const within of ['region', { time: 3600 }] as const) {
      const { engine } = watch(events, { within });
      expect(engine.snapshot().strata?.pairs.open.length).to.be.at.most(256);
    }
  });

  it('end an alarm when the later pairs are within the limit', () => {
    const options = { windowSize: 1000 };
    const { alerts, engine } = watch(
      [
        ...drawEvents(3000, 0.4),
        ...drawEvents(6000, 0, 2).map((event) => ({ ...event, at: (event['at'] as number) + 3000 * 86_400 })),
      ],
      { within: { time: 3600 } },
      options,
    );
    expect(alerts.some(({ within }) => within?.isReason === true)).to.equal(true);
    const own = engine.alerts.filter(({ alert }) => alert.within?.isReason === true);
    expect(own.at(-1)?.changes.at(-1)?.change).to.equal('cleared');
  });

  it('reject what they cannot mean', () => {
    const make = (within: unknown) => () => new FairnessDriftAndAlertEngine({ within: within as never });
    expect(make({ time: 0 })).to.throw(/within\.time/);
    expect(make({ time: '3600' })).to.throw(/within\.time/);
    expect(make({ hours: 1 })).to.throw(/hours/);
    expect(make('')).to.throw(/within/);
    const weighted = new RealTimeFairnessTracker({ columns: { ...COLUMNS, weight: 'w' } });
    expect(() => {
      new FairnessDriftAndAlertEngine({ within: { time: 60 } }).watch(weighted);
    }).to.throw(/weights/);
    const { engine, tracker } = watch(drawEvents(500, 0), { within: 'region' });
    expect(() => {
      new FairnessDriftAndAlertEngine({ within: { time: 60 } }).watch(tracker);
    }).to.throw(/within other strata/);
    expect(() => FairnessDriftAndAlertEngine.restore(engine.snapshot(), tracker, { detectors: [] })).to.throw(/within/);
    expect(() => {
      tracker.record({ ...drawEvents(1, 0)[0], region: { no: 'label' } });
    }).to.throw(/region/);
    expect(tracker.nEvents).to.equal(500);
    tracker.record({ at: 1e9, g: 'x', p: 1 });
    expect(tracker.faults).to.include({ missing_stratum: 1 });
  });

  it('are restored, or rejected with a toolkit error, for any value of a field of a state', () => {
    const { engine, tracker } = watch(drawEvents(700, 0.3), { within: 'region' }, { restartEvery: 200 });
    const [ofTracker, ofEngine] = plain<[TrackerSnapshot, EngineSnapshot]>([tracker.snapshot(), engine.snapshot()]);
    const use = (snapshot: EngineSnapshot): void => {
      const restored = RealTimeFairnessTracker.restore(ofTracker);
      const again = FairnessDriftAndAlertEngine.restore(snapshot, restored, { detectors: [], within: 'region' });
      for (const event of drawEvents(40, 0, 3)) restored.record(event);
      again.update(restored);
      again.snapshot();
    };
    use(ofEngine);
    let rejected = 0;
    for (const path of pathsOf(ofEngine.strata, 2)) {
      for (const given of JUNK) {
        try {
          use(withField(ofEngine, ['strata', ...path], given));
        } catch (cause) {
          rejected++;
          const where = `${path.join('.')} = ${JSON.stringify(given)}: ${String((cause as Error).stack)}`;
          expect(FairnessToolkitError.isInstance(cause), where).to.equal(true);
          expect(String(cause), where).to.include('The snapshot cannot be restored');
        }
      }
    }
    expect(rejected).to.be.above(50);
  });

  it('have at most 5% false alarms over drifting streams, and find a gap of 0.25 in 2.5 times the events @study', function () {
    this.timeout(240_000);
    for (const cell of STRATA_CELLS.filter(({ id }) => ['fair-cycle', 'edge-cycle', 'gap', 'gap-small'].includes(id))) {
      const runs = Array.from({ length: 60 }, (_, run) => simulateStream(cell, run, 99));
      const median = (rule: 'within' | 'plain'): number =>
        runs.map((run) => run[rule] ?? Infinity).sort((a, b) => a - b)[30] as number;
      if (cell.isFair) {
        expect(runs.filter(({ within }) => within !== null).length, cell.id).to.be.at.most(3);
        expect(runs.filter(({ plain }) => plain !== null).length, cell.id).to.be.at.least(55);
      } else expect(median('within') / median('plain'), cell.id).to.be.at.most(2.5);
    }
  });
});
