import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { RunFeed, type RunFeedOptions } from '../../../src/api/fleet/run-feed.ts';
import type { RunNews } from '../../../src/api/fleet/stored-run.ts';
import type { RunEvent } from '../../../src/api/runs/runs.ts';
import { createRecorder } from '../runs/runs-fixture.ts';

const report = (id: number): RunEvent => ({ id, type: 'progress', stage: 'rows', done: id, total: 9 });

/** A ledger in memory, whose answers arrive when the test says so. */
function createFeed() {
  const events: RunEvent[] = [];
  const held: (() => void)[] = [];
  const state = { isHeld: false, isAway: false, isLost: false, reads: 0 };
  const ended: string[] = [];
  const subscriber = Object.assign(new EventEmitter(), { subscribe: () => Promise.resolve(1) });
  const ledger = {
    channel: 'news',
    news: async (_: string, after: number): Promise<RunNews | undefined> => {
      state.reads += 1;
      if (state.isAway) throw new Error('away');
      // What is there when the command is executed.
      const found = events.filter(({ id }) => id > after);
      const lastId = events.at(-1)?.id ?? 0;
      if (state.isHeld) await new Promise<void>((resolve) => held.push(resolve));
      return state.isLost ? undefined : { events: found, lastId, end: null };
    },
  };
  const feed = new RunFeed({
    ledger: ledger as unknown as RunFeedOptions['ledger'],
    subscriber: subscriber as unknown as RunFeedOptions['subscriber'],
    logger: createRecorder().logger,
    onEnd: (runId) => ended.push(runId),
    onRelease: () => ended.push('released'),
  });
  const announce = (what = 'progress') => subscriber.emit('message', 'news', `r ${what}`);
  return { feed, events, held, state, ended, subscriber, announce };
}

describe('the feed of a host', () => {
  it('misses nothing that happens while a follower is added', async () => {
    const { feed, events, held, state, announce } = createFeed();
    await feed.start();
    events.push(report(1));
    state.isHeld = true;
    const seen: number[] = [];
    const following = feed.follow('r', 0, ({ id }) => seen.push(id));
    await pause(1);
    // The first read has been executed; this event and its announcement come before its answer.
    events.push(report(2));
    announce();
    state.isHeld = false;
    held.splice(0).forEach((answer) => {
      answer();
    });
    await following;
    await pause(5);
    expect(seen).to.deep.equal([1, 2]);
  });

  it('reads once for many announcements, and sends each event once to each follower', async () => {
    const { feed, events, held, state, announce } = createFeed();
    await feed.start();
    const seen: number[][] = [[], []];
    for (const own of seen) await feed.follow('r', 0, ({ id }) => own.push(id));
    state.isHeld = true;
    const before = state.reads;
    events.push(report(1));
    announce();
    for (let id = 2; id <= 50; id++) {
      events.push(report(id));
      announce();
    }
    state.isHeld = false;
    held.splice(0).forEach((answer) => {
      answer();
    });
    await pause(5);
    expect(state.reads - before).to.be.at.most(3);
    for (const own of seen) expect(own).to.deep.equal(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  it('reads later what it could not read, at the next look or when the connection is back', async () => {
    const { feed, events, state, subscriber, announce } = createFeed();
    await feed.start();
    const seen: number[] = [];
    await feed.follow('r', 0, ({ id }) => seen.push(id));
    state.isAway = true;
    events.push(report(1));
    announce();
    await pause(5);
    expect(seen).to.deep.equal([]);
    state.isAway = false;
    feed.look();
    await pause(5);
    expect(seen).to.deep.equal([1]);
    events.push(report(2));
    subscriber.emit('ready');
    await pause(5);
    expect(seen).to.deep.equal([1, 2]);
  });

  it('adds no follower while Redis is away, and none of an unknown run', async () => {
    const { feed, state, announce } = createFeed();
    await feed.start();
    state.isAway = true;
    expect(await feed.follow('r', 0, () => undefined).catch((error: unknown) => (error as Error).message)).to.equal(
      'away',
    );
    [state.isAway, state.isLost] = [false, true];
    expect(await feed.follow('r', 0, () => undefined)).to.be.undefined;
    const { reads } = state;
    announce();
    expect(state.reads).to.equal(reads);
  });

  it('reports ends, removals and releases', async () => {
    const { feed, ended, announce } = createFeed();
    await feed.start();
    for (const what of ['running', 'progress', 'ended', 'removed', 'released']) announce(what);
    expect(ended).to.deep.equal(['r', 'r', 'released']);
  });
});
