import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { replay } from '../../src/monitoring/replay.ts';

const TRACKER = { columns: { yPred: 'p', protected: ['g'], timestamp: 'at' } };

/** Returns 4,000 fair decisions, one per minute, then decisions at rates of 30% and 60%. */
function rows(): { at: string; g: string; p: number }[] {
  const random = createRandom(12);
  return Array.from({ length: 8000 }, (_, row) => {
    const g = random.next() < 0.5 ? 'x' : 'y';
    const rate = row < 4000 ? 0.5 : g === 'x' ? 0.3 : 0.6;
    return { at: new Date(60_000 * row).toISOString(), g, p: Number(random.next() < rate) };
  });
}

describe('replay', () => {
  it('returns what a policy would have sent, and when', async () => {
    const { alerts, alertHistory, states, nEvents, isSorted } = await replay(rows(), { tracker: TRACKER });
    const [first] = alerts;
    expect(nEvents).to.equal(8000);
    expect(isSorted).to.equal(false);
    expect(first?.groups).to.deep.equal(['y', 'x']);
    expect(Date.parse(first?.timestamp ?? '') / 60_000).to.be.within(4200, 7000);
    expect(Date.parse(first?.changedAt ?? '') / 60_000).to.be.within(3400, 4600);
    expect(alertHistory).to.have.lengthOf(1);
    expect(states['g']).to.deep.equal({ demographic_parity_difference: 'breach' });
  });

  it('processes rows in order of time', async () => {
    const [ordered, shuffled] = await Promise.all([
      replay(rows(), { tracker: TRACKER }),
      replay(rows().reverse(), { tracker: TRACKER }),
    ]);
    expect(shuffled.isSorted).to.equal(true);
    expect(shuffled.alerts).to.deep.equal(ordered.alerts);
    expect(shuffled.tracker.faults).to.deep.equal({});
  });

  it('reads a file, and reports progress', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'replay-'));
    try {
      const file = path.join(folder, 'events.csv');
      await writeFile(file, ['at,g,p,other', ...rows().map(({ at, g, p }) => `${at},${g},${String(p)},1`)].join('\n'));
      const seen: number[] = [];
      const { alerts } = await replay(file, {
        tracker: TRACKER,
        lookEvery: 20,
        onProgress: ({ done }) => seen.push(done),
      });
      expect(alerts[0]?.groups).to.deep.equal(['y', 'x']);
      expect(seen.at(-1)).to.equal(8000);
      expect(seen.length).to.be.greaterThan(3);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('stops when it is cancelled', async () => {
    const stop = new AbortController();
    const stopped = replay(rows(), {
      tracker: TRACKER,
      lookEvery: 1,
      signal: stop.signal,
      onProgress: () => {
        stop.abort(new Error('enough'));
      },
    });
    const error: unknown = await stopped.catch((cause: unknown) => cause);
    expect(error).to.have.property('message', 'enough');
  });

  it('returns the state unknown if there are no events', async () => {
    const { alerts, states } = await replay({ p: [], g: [], at: [] }, { tracker: TRACKER });
    expect(alerts).to.deep.equal([]);
    expect(states['g']).to.deep.equal({ demographic_parity_difference: 'unknown' });
  });
});
