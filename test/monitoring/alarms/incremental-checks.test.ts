import { expect } from 'chai';

import { createRandom, type Random } from '../../../src/internal/random.ts';
import { BoundFinder, type BoundQuestion } from '../../../src/monitoring/alarms/anytime-bound.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { readWindow } from '../../../src/monitoring/alarms/watch-tier.ts';
import { WindowReader } from '../../../src/monitoring/alarms/window-reader.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import type { WatchedMetric } from '../../../src/monitoring/tracker/watched-metric.ts';
import { straightforwardBound } from './straightforward-checks.ts';

const GROUPS = 120;
const NOW = 1_700_000_000_000;
const LIMITS = [0.1, 0.02, -Infinity];
const ALPHA = { engine: 0.05, combination: 0.05 };

interface Case {
  readonly title: string;
  readonly options: Partial<TrackerOptions>;
  /** Whether most labels arrive later. */
  readonly isLate?: boolean;
}

const RATES = { columns: { yPred: 'p', yTrue: 'y', protected: ['g', 's'], intersections: [['s', 'g']] } };
const CASES: readonly Case[] = [
  { title: 'rates with labels and an intersection', options: RATES },
  {
    title: 'late labels',
    options: { columns: { ...RATES.columns, id: 'id' }, labelHorizon: 900 },
    isLate: true,
  },
  { title: 'declared groups', options: { ...RATES, groups: { g: Array.from({ length: GROUPS }, (_, g) => `g${g}`) } } },
  { title: 'weights', options: { columns: { ...RATES.columns, weight: 'w' } } },
  {
    title: 'errors with a scale',
    options: { ...RATES, metrics: ['mae_parity_difference', 'demographic_parity_difference'], errorScale: 1 },
  },
  { title: 'errors without a scale', options: { ...RATES, metrics: ['mae_parity_difference'] } },
];

function makeTracker(options: Partial<TrackerOptions>): RealTimeFairnessTracker {
  return new RealTimeFairnessTracker({
    columns: { yPred: 'p', protected: ['g'] },
    windowSize: 700,
    minGroupSize: 4,
    restartEvery: 130,
    clock: () => NOW,
    ...options,
  });
}

/**
 * Events of many groups. Some groups appear late, most are rare, and the rate of the first group changes. The first
 * decisions are all negative, so that the ends of many groups are equal.
 */
function makeEvents(random: Random, count: number, from: number, groups = GROUPS): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, row) => {
    const group = Math.floor(Math.min(groups, 5 + (from + row) / 20) * random.next() ** 3);
    const y = Number(random.next() < 0.5);
    const rate = from + row < 400 ? 0 : group === 0 && from + row > 1500 ? 0.95 : 0.2 + 0.1 * (group % 4) + 0.1 * y;
    return {
      id: from + row,
      g: `g${String(group)}`,
      s: random.next() < 0.5 ? 'f' : 'm',
      y,
      p: Number(random.next() < rate),
      w: [0.25, 1, 3][random.integer(3)],
    };
  });
}

/** A tracker of a random stream, and the checks of all its combinations. */
class CheckedStream {
  readonly #random = createRandom(21);
  readonly #case: Case;
  #tracker: RealTimeFairnessTracker;
  #checks: { finder: BoundFinder; reader: WindowReader; attribute: number; metric: WatchedMetric }[] = [];
  readonly #waiting: number[] = [];
  #next = 0;
  bounds = 0;
  readings = 0;

  constructor(one: Case) {
    this.#case = one;
    this.#tracker = makeTracker(one.options);
    this.#beginChecks();
  }

  #beginChecks(): void {
    const { attributes, metrics } = this.#tracker.stream.options;
    this.#checks = attributes.flatMap((_, attribute) =>
      metrics.map((metric) => ({
        finder: new BoundFinder(attribute, metric, ALPHA),
        reader: new WindowReader(attribute, metric),
        attribute,
        metric,
      })),
    );
  }

  /** Counts some events, in a batch or one by one, and some late labels. */
  advance(): void {
    const { isLate = false } = this.#case;
    const size = [1, 7, 40, 90][this.#random.integer(4)] as number;
    const events = makeEvents(this.#random, size, this.#next);
    this.#next += size;
    if (!isLate && this.#random.next() < 0.4) {
      this.#tracker.recordBatch(events);
      return;
    }
    for (const { y, ...event } of events) {
      const comesLater = isLate && this.#random.next() < 0.7;
      this.#tracker.record(comesLater ? event : { ...event, y });
      if (comesLater) this.#waiting.push(event['id'] as number);
    }
    while (this.#waiting.length > 200) {
      const [id] = this.#waiting.splice(this.#random.integer(this.#waiting.length), 1);
      this.#tracker.label(id as number, this.#random.integer(2));
    }
  }

  /** Merges a shard that has few groups, some of them new. */
  merge(events: number): void {
    const other = makeTracker(this.#case.options);
    for (const event of makeEvents(this.#random, events, this.#next, 8)) {
      const group = String(event['g']).replace(/g(?=[2-7])/, 'h');
      other.record({ ...event, g: group, id: `other ${String(event['id'])}` });
    }
    this.#tracker.merge(other);
  }

  /** Continues with a restored tracker, whose checks remember nothing. */
  restore(): void {
    this.#tracker = RealTimeFairnessTracker.restore(this.#tracker.snapshot(), { clock: () => NOW });
    this.#beginChecks();
  }

  assertEqual(question: BoundQuestion, limit: number): void {
    const { stream } = this.#tracker;
    for (const { finder, reader, attribute, metric } of this.#checks) {
      const bound = finder.strongest(stream, question, limit);
      const expected = straightforwardBound(stream, { ...question, attribute, metric, alpha: ALPHA }, limit);
      // The starts are compared as objects, since a comparison of their sums would take long.
      const plain = (one: typeof bound): unknown => (one === undefined ? one : { ...one, start: one.start.index });
      const where = `${metric.metric} of attribute ${String(attribute)} after ${String(stream.events)} events`;
      expect(plain(bound), where).to.deep.equal(plain(expected));
      const outcome = readWindow(stream, attribute, metric);
      const reading = reader.read(stream);
      expect(reading, where).to.deep.equal('missing' in outcome ? null : outcome.reading);
      this.bounds += Number(bound !== undefined);
      this.readings += Number(reading !== null);
    }
  }
}

describe('checks that read only the changed groups', () => {
  for (const one of CASES) {
    for (const isRestarted of [true, false]) {
      it(`find what all groups show: ${one.title}, ${isRestarted ? 'restarted' : 'cumulative'} windows`, () => {
        const stream = new CheckedStream(one);
        for (let check = 0; check < 140; check++) {
          stream.advance();
          // The first shard has more restarts than the stream.
          if (check === 30) stream.merge(2500);
          if (check === 50 || check === 90) stream.merge(300);
          if (check === 70) stream.restore();
          // An alarm was closed, so that earlier windows no longer count.
          const firstStart = check < 110 ? 0 : 16;
          const closed = Math.max(0, Math.floor((check - 100) / 10));
          stream.assertEqual({ isRestarted, firstStart, closed }, LIMITS[check % 3] as number);
        }
        expect(stream.bounds > 40, `${String(stream.bounds)} bounds`).to.equal(one.title !== 'errors without a scale');
        expect(stream.readings).to.be.above(100);
      });
    }
  }

  it('give the same alerts, watches and states as an engine that remembers nothing', () => {
    const random = createRandom(4);
    const tracker = makeTracker({ ...CASES[0]?.options });
    const engine = new FairnessDriftAndAlertEngine({ cooldownMillis: 0, detectors: [] });
    engine.watch(tracker);
    const changes = new Set<string>();
    for (let check = 0; check < 150; check++) {
      tracker.recordBatch(makeEvents(random, 40, check * 40));
      const expected = engine.copy().update(tracker);
      expect(engine.update(tracker)).to.deep.equal(expected);
      const [open] = engine.alerts.filter(({ isOpen }) => isOpen);
      if (check % 50 === 49 && open !== undefined) engine.resolve(open.alert.id);
      for (const { changes: own } of engine.alerts) for (const { change } of own) changes.add(change);
    }
    expect([...changes].sort()).to.deep.equal(['raised', 'repeated', 'resolved']);
  });
});
