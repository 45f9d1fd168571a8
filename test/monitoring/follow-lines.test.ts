import { expect } from 'chai';

import { FairnessDriftAndAlertEngine } from '../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { followLines } from '../../src/monitoring/follow-lines.ts';
import { RealTimeFairnessTracker } from '../../src/monitoring/tracker/real-time-fairness-tracker.ts';

async function* linesOf(...lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) {
    await Promise.resolve();
    yield line;
  }
}

/**
 * Yields lines with a pause before each and after the last.
 * @yields each line
 */
async function* pausing(...lines: readonly string[]): AsyncGenerator<string> {
  for (const line of [...lines, undefined]) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    if (line !== undefined) yield line;
  }
}

function parts(): { tracker: RealTimeFairnessTracker; engine: FairnessDriftAndAlertEngine } {
  const tracker = new RealTimeFairnessTracker({
    columns: { yPred: 'p', yTrue: 'y', protected: ['g'], id: 'id' },
    clock: () => 0,
  });
  return { tracker, engine: new FairnessDriftAndAlertEngine() };
}

describe('followed lines', () => {
  it('are rejected if a parser would change them: a duplicate key, or a group or id that loses digits', async () => {
    const { tracker, engine } = parts();
    const shown: [number, string][] = [];
    const { events, refused } = await followLines(
      linesOf(
        '{"id":1,"p":1,"g":"x","g":"y"}',
        '{"id":2,"p":1,"g":9007199254740993}',
        '{"id":0.12345678901234567890,"p":1,"g":"x"}',
        '{"id":9007199254740993,"y":1}',
        '{"id":"9007199254740993","p":1,"g":"9007199254740993","other":0.12345678901234567890}',
      ),
      { tracker, engine, onInvalidLine: (line, reason) => shown.push([line, reason.split(' ')[0] ?? '']) },
    );
    expect({ events, refused }).to.deep.equal({ events: 1, refused: 4 });
    expect(shown).to.deep.equal([
      [1, '/g'],
      [2, '/g'],
      [3, '/id'],
      [4, '/id'],
    ]);
  });

  it('are events, or labels if they have an id and no prediction', async () => {
    const { tracker, engine } = parts();
    const lines = linesOf(
      '{"id":1,"p":1,"g":"x"}',
      '',
      '{"id":"1","y":0}',
      '{"id":2,"p":0,"y":1,"g":"y"}',
      '{"id":9,"y":0}',
    );
    const { last: _, ...counts } = await followLines(lines, { tracker, engine });
    expect(counts).to.deep.equal({ lines: 5, events: 2, labels: 2, refused: 0 });
    expect(tracker.labelCoverage().map(({ labelled }) => labelled)).to.deep.equal([1, 1]);
    expect(tracker.faults).to.deep.equal({ unknown_label_id: 1 });
  });

  it('that are invalid are reported with their number and skipped', async () => {
    const { tracker, engine } = parts();
    const shown: [number, string][] = [];
    const bad = ['{', 'null', '[]', '"x"', '{"p":"a"}', '{"id":[1],"y":1}', '{"id":1,"p":1,"g":{}}', '{"id":1,"y":3}'];
    const { refused, events } = await followLines(linesOf(...bad, '{"id":1,"p":1,"g":"x"}'), {
      tracker,
      engine,
      onInvalidLine: (line, reason) => shown.push([line, reason]),
    });
    expect([refused, events]).to.deep.equal([8, 1]);
    expect(shown.map(([line]) => line)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(shown[0]?.[1]).to.equal('it is not valid JSON');
    expect(shown[5]?.[1]).to.equal("its 'id' is neither text nor a number");
    expect(shown[7]?.[1]).to.include("The field 'y' must be 0 or 1; it is 3.");
  });

  it('are checked every n events, and at the end', async () => {
    const { tracker, engine } = parts();
    const checks: number[] = [];
    const lines = Array.from({ length: 25 }, (_, id) => JSON.stringify({ id, p: id % 2, g: 'x' }));
    await followLines(linesOf(...lines), { tracker, engine, lookEvery: 10, onCheck: (line) => void checks.push(line) });
    expect(checks).to.deep.equal([10, 20, 25]);
  });

  it('are also checked at intervals while no line arrives, never concurrently', async () => {
    const { tracker, engine } = parts();
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    await followLines(pausing('{"id":1,"p":1,"g":"x"}', '{"id":2,"p":1,"g":"x"}'), {
      tracker,
      engine,
      refreshMillis: 5,
      onRefresh: async () => {
        most = Math.max(most, ++running);
        const before = tracker.nEvents;
        await new Promise((resolve) => setTimeout(resolve, 20));
        // Nothing is counted while a refresh is writing.
        expect(tracker.nEvents).to.equal(before);
        seen.push(before);
        running--;
      },
    });
    expect(most).to.equal(1);
    expect(new Set(seen)).to.deep.equal(new Set([0, 1, 2]));
    const checks = seen.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(seen.length).to.equal(checks);
  });

  it('reject with the error of a refresh', async () => {
    const { tracker, engine } = parts();
    const failure = await followLines(pausing('{"id":1,"p":1,"g":"x"}'), {
      tracker,
      engine,
      refreshMillis: 5,
      onRefresh: () => Promise.reject(new Error('no room')),
    }).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'no room');
  });
});
