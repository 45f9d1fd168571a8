import { expect } from 'chai';

import type { RunEvent } from '../../../src/api/runs/runs.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { describeRuns } from './runs-bench.ts';
import { createFixture, eventually } from './runs-fixture.ts';

const shown = (event: RunEvent) =>
  event.type === 'status' ? event.status : `${event.stage} ${event.done}/${event.total}`;

describeRuns('the events of a run', (open) => {
  const beginFollowed = async () => {
    const bench = await open();
    const job = await bench.begin();
    const { runId } = job;
    const follow = async (after: number) => {
      const events: RunEvent[] = [];
      const unfollow = await bench.runs.follow(runId, after, (event) => events.push(event));
      return { events, unfollow };
    };
    return { ...bench, runId, job, report: job.report, follow };
  };
  const idsOf = (events: readonly RunEvent[]) => events.map(({ id }) => id);

  it('are numbered from 1 and sent to all followers, up to the final status', async () => {
    const { job, report, follow } = await beginFollowed();
    const followers = await Promise.all([follow(0), follow(0), follow(0)]);
    await job.start();
    report(1);
    report(2);
    await job.succeed();
    for (const { events } of followers) {
      await eventually(() => events.length === 5);
      expect(events.map(shown)).to.deep.equal(['queued', 'running', 'rows 1/1000', 'rows 2/1000', 'succeeded']);
      expect(idsOf(events)).to.deep.equal([1, 2, 3, 4, 5]);
    }
  });

  for (const [after, expected] of [
    [0, [1, 2, 3, 4, 5]],
    [2, [3, 4, 5]],
    [3, [4, 5]],
    [99, [4, 5]],
  ] as const) {
    it(`are sent from ID ${after} on, past ones first`, async () => {
      const { job, report, follow } = await beginFollowed();
      const all = await follow(0);
      await job.start();
      report(1);
      await eventually(() => all.events.length === 3);
      const { events } = await follow(after);
      report(2);
      await job.succeed();
      await eventually(() => events.length === expected.length);
      expect(idsOf(events)).to.deep.equal(expected);
    });
  }

  it('keep the last 200 reports for later followers, and every status', async () => {
    const { job, report, follow } = await beginFollowed();
    await job.start();
    const all = await follow(0);
    for (let done = 1; done <= 901; done++) report(done);
    await eventually(() => all.events.at(-1)?.id === 903);
    const { events } = await follow(0);
    expect(events.map(shown)).to.deep.equal([
      'queued',
      'running',
      ...Array.from({ length: 200 }, (_, i) => `rows ${702 + i}/1000`),
    ]);
    expect(events.at(-1)?.id).to.equal(903);
  });

  it('never repeat the same report in succession', async () => {
    const { job, report, follow } = await beginFollowed();
    await job.start();
    const { events } = await follow(2);
    report(1);
    report(1);
    report(1, 'columns');
    report(1);
    await eventually(() => events.length >= 3);
    await job.succeed();
    await eventually(() => events.length >= 4);
    expect(events.map(shown)).to.deep.equal(['rows 1/1000', 'columns 1/1000', 'rows 1/1000', 'succeeded']);
  });

  for (const after of [0, 3, 50]) {
    it(`are only the final status after the end, for a follower that has seen ${after}`, async () => {
      const { runs, runId, job, follow } = await beginFollowed();
      await job.succeed();
      await runs.wait(runId);
      const { events } = await follow(after);
      expect(events).to.deep.equal([{ id: 3, type: 'status', status: 'succeeded' }]);
    });
  }

  it('have the ID of the final status after the end too', async () => {
    const { runs, runId, job, report, follow } = await beginFollowed();
    await job.start();
    const { events } = await follow(0);
    for (let done = 1; done <= 20; done++) report(done);
    await eventually(() => events.length === 22);
    await job.fail(new Error('no'));
    const { lastEventId } = await runs.wait(runId);
    expect(lastEventId).to.equal(23);
    await eventually(() => events.length === 23);
    const late = await follow(5);
    expect(late.events)
      .to.deep.equal([events.at(-1)])
      .and.to.deep.equal([{ id: 23, type: 'status', status: 'failed' }]);
  });

  it('of an immediate answer are its final status with ID 1', async () => {
    const { runs, now } = await open();
    await runs.keep({ runId: 'a', endpoint: '/validate', createdAt: now(), body: '{}' });
    const events: RunEvent[] = [];
    await runs.follow('a', 0, (event) => events.push(event));
    expect(events).to.deep.equal([{ id: 1, type: 'status', status: 'succeeded' }]);
    expect((await runs.get('a'))?.lastEventId).to.equal(1);
  });

  it('do not exist for an unknown run', async () => {
    const { runs } = await open();
    expect(await runs.follow('nobody', 0, () => expect.fail())).to.be.undefined;
  });

  it('are not sent to a follower that has left, even during an event', async () => {
    const { job, report, follow, runs, runId } = await beginFollowed();
    const { events, unfollow } = await follow(0);
    unfollow?.();
    unfollow?.();
    let reported = 0;
    const leave = await runs.follow(runId, 1, () => {
      reported += 1;
      leave?.();
    });
    const all = await follow(0);
    await job.start();
    report(1);
    await eventually(() => all.events.length === 3);
    expect(events.map(shown)).to.deep.equal(['queued']);
    expect(reported).to.equal(1);
  });

  it('reach all other followers if one throws, which gets no more events', async () => {
    const { runs, runId, job, follow, logged } = await beginFollowed();
    let calls = 0;
    await runs.follow(runId, 1, () => {
      calls += 1;
      throw new Error('broken pipe');
    });
    const { events } = await follow(0);
    await job.succeed();
    expect((await runs.wait(runId)).status).to.equal('succeeded');
    await eventually(() => events.length === 3);
    expect(events.map(shown)).to.deep.equal(['queued', 'running', 'succeeded']);
    expect(calls).to.equal(1);
    await runs.follow(runId, 0, () => {
      throw new Error('broken too');
    });
    expect(logged.map(({ level, fields }) => [level, fields.runId])).to.deep.equal([
      ['warn', runId],
      ['warn', runId],
    ]);
  });
});

describe('the events of a run from an earlier process', () => {
  const root = useTemporaryFolder();

  it('end with an ID that no client has seen', async () => {
    const first = createFixture(root());
    const { runId, job } = await first.begin();
    const seen: RunEvent[] = [];
    await first.runs.follow(runId, 0, (event) => seen.push(event));
    job.start();
    for (let done = 1; done <= 5; done++) job.options.onProgress({ stage: 'rows', done, total: 1000 });
    const { runs } = createFixture(root(), { store: first.store });
    await runs.start();
    const record = await runs.get(runId);
    const events: RunEvent[] = [];
    await runs.follow(runId, 7, (event) => events.push(event));
    expect(events).to.deep.equal([{ id: record?.lastEventId, type: 'status', status: 'failed' }]);
    expect(events[0]?.id).to.be.above(Math.max(...seen.map(({ id }) => id)));
    expect(Number.isSafeInteger(events[0]?.id)).to.be.true;
  });
});
