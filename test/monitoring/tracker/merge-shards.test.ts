import { expect } from 'chai';

import { createRandom, type Random } from '../../../src/internal/random.ts';
import { BoundFinder } from '../../../src/monitoring/alarms/anytime-bound.ts';
import { EventStream } from '../../../src/monitoring/tracker/event-stream.ts';
import { FreshStarts } from '../../../src/monitoring/tracker/fresh-starts.ts';
import { type GroupOrder, mergeShards } from '../../../src/monitoring/tracker/merge-shards.ts';
import { groupShare, knownGroups } from '../../../src/monitoring/tracker/stream-window.ts';
import { fillTrackerOptions, type TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';

const OPTIONS: TrackerOptions = {
  columns: { yPred: 'p', yTrue: 'y', protected: ['g', 's'], intersections: [['s', 'g']] },
  windowSize: 400,
  minGroupSize: 10,
  restartEvery: Number.MAX_SAFE_INTEGER,
};

function makeStream(options: Partial<TrackerOptions> = {}): EventStream {
  return new EventStream(fillTrackerOptions({ ...OPTIONS, ...options }), () => 1_700_000_000_000);
}

/** An event of one of some groups; group 0 has a higher rate after a while. */
function makeEvent(random: Random, row: number, groups: number): Record<string, unknown> {
  const group = Math.floor(groups * random.next() ** 2);
  const y = random.integer(2);
  return {
    g: `g${String(group)}`,
    s: random.next() < 0.5 ? 'f' : 'm',
    y,
    p: Number(random.next() < (group === 0 && row > 3000 ? 0.9 : 0.3 + 0.2 * y)),
    w: 1 + random.integer(3),
  };
}

function beginWindows(streams: readonly EventStream[], index: number): void {
  for (const { starts, events, latestTime, tables } of streams) starts.beginUpTo(index, events, latestTime, tables);
}

/** The sums of each group by its label, now and at each start. */
function sumsOf(stream: EventStream): unknown {
  const byLabel = (tables: EventStream['tables']): unknown =>
    tables.map((table, attribute) =>
      Object.fromEntries(
        (stream.reader.groups[attribute]?.labels ?? []).flatMap((label, group) => {
          const sums = [...table.data.subarray(group * table.stride, (group + 1) * table.stride)];
          return sums.some((sum) => sum !== 0) ? [[label, sums]] : [];
        }),
      ),
    );
  return {
    events: stream.events,
    faults: stream.faults.toJSON(),
    now: byLabel(stream.tables),
    starts: stream.starts.kept.map(({ index, events, tables }) => ({ index, events, sums: byLabel(tables) })),
    next: stream.starts.next,
  };
}

describe('merged shards', () => {
  for (const options of [{}, { columns: { ...OPTIONS.columns, weight: 'w' } }]) {
    it(`have the sums of a single stream, now and in every window${'columns' in options ? ', with weights' : ''}`, () => {
      const random = createRandom(12);
      const complete = makeStream(options);
      // The shards receive very different shares of the events, and the last one begins late.
      const shards = [0, 1, 2, 3].map(() => makeStream(options));
      for (let row = 0; row < 9000; row++) {
        const event = makeEvent(random, row, 4 + row / 500);
        const shard = row > 5000 && random.next() < 0.3 ? 3 : Math.floor(3 * random.next() ** 3);
        complete.addEvent(event);
        shards[shard]?.addEvent(event);
        if (row % 90 === 89) beginWindows([complete, ...shards], Math.floor(row / 50));
      }
      const merged = makeStream(options);
      mergeShards(merged, shards, undefined);
      expect(sumsOf(merged)).to.deep.equal(sumsOf(complete));
      expect(complete.starts.kept.length).to.be.above(20);
    });
  }

  it('have the bounds of a single stream with the same order of groups', () => {
    const random = createRandom(13);
    const [complete, ...shards] = [0, 1, 2, 3].map(() => makeStream()) as [EventStream, ...EventStream[]];
    let order: GroupOrder | undefined;
    let found = 0;
    for (let row = 0; row < 8000; row++) {
      const event = makeEvent(random, row, 6);
      complete.addEvent(event);
      shards[random.integer(3)]?.addEvent(event);
      if (row % 200 < 199) continue;
      beginWindows([complete, ...shards], Math.floor(row / 100));
      const merged = makeStream();
      order = mergeShards(merged, shards, order);
      merged.options.attributes.forEach((_, attribute) => {
        const single = [complete, merged].map((stream) => {
          const metric = stream.options.metrics[0] as (typeof stream.options.metrics)[number];
          const finder = new BoundFinder(attribute, metric, { engine: 0.05, combination: 0.05 });
          const bound = finder.strongest(stream, { isRestarted: true, firstStart: 0, closed: 0 }, 0.1);
          if (bound === undefined) return undefined;
          const labels = stream.reader.groups[attribute]?.labels ?? [];
          const { groups, values, counts, start } = bound;
          return { groups: groups.map((group) => labels[group]), values, counts, start: start.index };
        });
        // The shares of groups depend on the order in which they appeared, so the bounds are equal only in the attribute
        // whose groups all appeared at once.
        if (merged.options.attributes[attribute]?.name === 's') expect(single[1]).to.deep.equal(single[0]);
        found += Number(single[1] !== undefined);
      });
    }
    expect(found).to.be.above(20);
  });

  it('keep the shares of all groups over all merges, and the shares add up to at most 1', () => {
    const random = createRandom(14);
    const shards = [0, 1, 2].map(() => makeStream());
    const shares = new Map<string, number>();
    let order: GroupOrder | undefined;
    for (let row = 0; row < 4000; row++) {
      shards[random.integer(3)]?.addEvent(makeEvent(random, row, 3 + row / 100));
      if (row % 50 < 49) continue;
      const merged = makeStream();
      order = mergeShards(merged, shards, order);
      if (!merged.isWarm) continue;
      merged.reader.groups.forEach(({ labels }, attribute) => {
        const known = knownGroups(merged, attribute);
        const own = labels.map((_, group) => groupShare(group, known));
        expect(own.reduce((sum, share) => sum + share, 0)).to.be.at.most(1 + 1e-12);
        labels.forEach((label, group) => {
          const key = `${String(attribute)} ${label}`;
          expect(own[group], key).to.equal(shares.get(key) ?? own[group]);
          shares.set(key, own[group] as number);
        });
      });
    }
    expect(shares.size).to.be.above(60);
  });

  it('have a window of the newest events of every shard, in proportion to their recent events', () => {
    const shards = [makeStream(), makeStream()];
    const add = (shard: number, count: number, p: number): void => {
      for (let event = 0; event < count; event++) shards[shard]?.addEvent({ p, y: 1, g: 'x', s: `s${String(shard)}` });
    };
    add(0, 5000, 0);
    add(1, 5000, 0);
    beginWindows(shards, 1);
    // Since the last restart, the first shard has received three times as many events as the second.
    add(0, 1500, 1);
    add(1, 500, 1);
    const merged = makeStream();
    mergeShards(merged, shards, undefined);
    const { window } = merged;
    expect(window.length).to.equal(400);
    const labels = merged.reader.groups[1]?.labels ?? [];
    const table = window.tables[1] as EventStream['tables'][number];
    const counts = labels.map((_, group) => [...table.data.subarray(group * table.stride, group * table.stride + 4)]);
    // True label 1, decision 1: the newest events of each shard.
    expect(Object.fromEntries(labels.map((label, group) => [label, counts[group]]))).to.deep.equal({
      s0: [0, 0, 0, 300],
      s1: [0, 0, 0, 100],
    });
  });

  it('have a window of all events, as long as there are few', () => {
    const shards = [makeStream(), makeStream(), makeStream()];
    const random = createRandom(15);
    for (let row = 0; row < 350; row++) shards[random.integer(2)]?.addEvent(makeEvent(random, row, 3));
    const merged = makeStream();
    mergeShards(merged, shards, undefined);
    expect(merged.window.length).to.equal(350);
    merged.window.tables.forEach((table, attribute) => {
      expect([...table.data]).to.deep.equal([...(merged.tables[attribute]?.data ?? [])]);
    });
  });
});

describe('windows that begin together', () => {
  it('are kept like windows that began one after another', () => {
    const random = createRandom(16);
    const { tables } = makeStream();
    const one = new FreshStarts();
    const other = new FreshStarts();
    one.begin(0, NaN, tables);
    other.begin(0, NaN, tables);
    for (let step = 0, index = 0; step < 300; step++) {
      index += random.integer(40);
      while (one.next <= index) one.begin(step, step, tables);
      other.beginUpTo(index, step, step, tables);
      expect(other.next).to.equal(one.next);
      const plain = ({ kept }: FreshStarts): unknown => kept.map((start) => [start.index, start.events, start.time]);
      expect(plain(other)).to.deep.equal(plain(one));
    }
    expect(one.next).to.be.above(4000);
  });
});
