import { readFile } from 'node:fs/promises';

import { expect } from 'chai';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import type { RunEvent } from '../../../src/api/runs/runs.ts';
import { type Bench, describeRuns } from './runs-bench.ts';
import { eventually, settle } from './runs-fixture.ts';

/** Returns the problem with which a promise rejects. */
async function problemOf(work: Promise<unknown>): Promise<ServiceProblem> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceProblem)) throw new Error(`no problem, but ${String(error)}`);
  return error;
}

const keep = ({ runs, now }: Bench, ...ids: readonly string[]) =>
  ids.reduce<Promise<void>>(
    (before, runId) =>
      before.then(() => runs.keep({ runId, endpoint: '/validate', createdAt: now(), body: '{"kept":true}' })),
    Promise.resolve(),
  );

const idsOf = async ({ runs }: Bench) => (await runs.list()).map(({ runId }) => runId);

describeRuns('runs', (open) => {
  describe('from submission to end', () => {
    it('pass through queued, running and succeeded, and their files can be read', async () => {
      const bench = await open();
      const { runs, begin, pass, now, upload, uploadsLeft } = bench;
      const created = now();
      const job = await begin({ inputFolder: upload(), download: '/results/{run_id}/data' });
      const { runId } = job;
      const queued = { runId, endpoint: '/pipeline', status: 'queued', createdAt: created, finishedAt: null };
      expect(await runs.get(runId)).to.deep.equal({ ...queued, body: null, problem: null, lastEventId: 0, files: [] });
      await job.start();
      expect((await runs.get(runId))?.status).to.equal('running');
      pass(1500);
      await job.succeed('{"passed": false, "metrics": {}}\n', { 'report.md': '# Ünïcode', 'data.csv': 'a\n1\n' });
      const record = await runs.wait(runId);
      expect(record).to.deep.equal({
        ...queued,
        status: 'succeeded',
        finishedAt: '2024-01-01T00:00:01.500Z',
        body: `{"run_id":"${runId}","status":"success","passed": false, "metrics": {},"download":"/results/${runId}/data","timestamp":"2024-01-01T00:00:01.500Z"}`,
        problem: null,
        lastEventId: 3,
        files: ['report.md', 'data.csv'],
      });
      expect(await runs.get(runId)).to.deep.equal(record);
      expect(await runs.wait(runId)).to.deep.equal(record);
      for (let turn = 0; turn < 2; turn++) {
        expect(await readFile(await runs.fileOf(runId, 'report.md'), 'utf8')).to.equal('# Ünïcode');
        expect(await readFile(await runs.fileOf(runId, 'data.csv'), 'utf8')).to.equal('a\n1\n');
      }
      expect(uploadsLeft()).to.deep.equal([]);
    });

    for (const body of ['', '[1]', 'null', '{"a":1']) {
      it(`fail if a job returns ${JSON.stringify(body)}`, async () => {
        const { runs, begin, logged } = await open();
        const job = await begin();
        await job.succeed(body);
        expect(await runs.wait(job.runId)).to.deep.include({ status: 'failed', body: null });
        expect(logged).to.have.length(1);
      });
    }

    it('fail with the problem that the job threw', async () => {
      const { runs, begin, logged, upload, uploadsLeft } = await open();
      const job = await begin({ inputFolder: upload() });
      await job.fail(new ServiceProblem(422, { detail: 'There is no column y.', suggestion: 'Name one.' }));
      const { status, body, problem, files } = await runs.wait(job.runId);
      expect({ status, body, files }).to.deep.equal({ status: 'failed', body: null, files: [] });
      expect(problem).to.deep.equal({
        type: 'urn:evenhand:problem:invalid-request',
        title: 'The request cannot be processed',
        status: 422,
        code: 'invalid-request',
        detail: 'There is no column y.',
        suggestion: 'Name one.',
        run_id: job.runId,
      });
      await eventually(() => uploadsLeft().length === 0);
      expect(logged).to.deep.equal([]);
    });

    it('fail with 500 and without details for any other error, which is logged', async () => {
      const { runs, begin, logged } = await open();
      const job = await begin();
      await job.fail(new Error('secret at /home/someone'));
      const { problem } = await runs.wait(job.runId);
      expect(problem).to.include({ status: 500, run_id: job.runId });
      expect(JSON.stringify(problem)).not.to.include('secret');
      expect(logged[0]?.fields.runId).to.equal(job.runId);
      expect((logged[0]?.fields.err as Error).message).to.include('secret');
    });

    it('do not exceed the queue, and are rejected without leftovers', async () => {
      const { runs, request, upload, uploadsLeft } = await open({ maxQueued: 2 });
      const outcomes = await Promise.allSettled(
        [1, 2, 3, 4, 5].map(() => runs.submit(request({ inputFolder: upload() }))),
      );
      const accepted = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.runId] : []));
      expect(accepted).to.have.length(2);
      for (const one of outcomes) {
        if (one.status !== 'rejected') continue;
        expect(one.reason).to.be.instanceOf(ServiceProblem).with.property('status', 503);
        expect((one.reason as ServiceProblem).headers).to.have.property('Retry-After');
      }
      expect((await runs.list()).map(({ runId }) => runId).sort()).to.deep.equal(accepted.sort());
      expect(uploadsLeft().length).to.be.at.most(2);
    });

    it('are rejected if their ID is not a file name', async () => {
      const { runs, request, upload, uploadsLeft } = await open({ createId: () => '../elsewhere' });
      const failure: unknown = await runs.submit(request({ inputFolder: upload() })).catch((error: unknown) => error);
      expect((failure as Error).message).to.include('The createId parameter must');
      expect(uploadsLeft()).to.deep.equal([]);
    });
  });

  it('that are unknown, or whose ID is hostile, do not exist', async () => {
    const { runs } = await open();
    for (const id of ['nobody', '', '..', '../a', 'a/b', 'a:events', 'a\n', 'a b', '*', 'x'.repeat(200), 'ä', '\0']) {
      expect(await runs.get(id), id).to.be.undefined;
      expect(await runs.follow(id, 0, () => expect.fail()), id).to.be.undefined;
      expect(await runs.remove(id), id).to.equal('unknown');
      expect((await problemOf(runs.wait(id))).status, id).to.equal(404);
    }
    for (const id of ['..', '../a', 'a/b', '', 'a\n']) {
      expect((await problemOf(runs.fileOf(id, 'report.md'))).status, id).to.equal(404);
    }
  });

  it('with an immediate answer are stored with it unchanged', async () => {
    const { runs, now } = await open();
    const body = '{"run_id":"a","status":"success","timestamp":"t"}';
    await runs.keep({ runId: 'a', endpoint: '/validate', createdAt: '2023-12-31T23:59:59.000Z', body });
    expect(await runs.get('a')).to.deep.equal({
      runId: 'a',
      endpoint: '/validate',
      status: 'succeeded',
      createdAt: '2023-12-31T23:59:59.000Z',
      finishedAt: now(),
      body,
      problem: null,
      lastEventId: 1,
      files: [],
    });
  });

  it('keep their tenant from submission to end, also in a list', async () => {
    const { runs, begin, now } = await open();
    const job = await begin({ tenant: 'tenant:a' });
    expect((await runs.get(job.runId))?.tenant).to.equal('tenant:a');
    await job.start();
    await job.succeed('{}');
    expect((await runs.wait(job.runId)).tenant).to.equal('tenant:a');
    await runs.keep({ runId: 'k', endpoint: '/validate', createdAt: now(), body: '{}', tenant: 'tenant:b' });
    const tenants = (await runs.list()).map(({ runId, tenant }) => [runId, tenant]);
    expect(tenants).to.have.deep.members([
      [job.runId, 'tenant:a'],
      ['k', 'tenant:b'],
    ]);
  });

  describe('in a list', () => {
    it('occur once each, newest first, independent of their last use', async () => {
      const bench = await open({ capacity: 500 });
      const { runs, begin, pass } = bench;
      const ids: string[] = [];
      for (let i = 0; i < 3; i++) {
        ids.push((await begin()).runId);
        pass(10);
        await keep(bench, `kept-${i}`);
        ids.push(`kept-${i}`);
        pass(10);
      }
      await runs.get(ids[1] ?? '');
      const list = await runs.list();
      expect(list.map(({ runId }) => runId)).to.deep.equal(ids.reverse());
      expect(Object.keys(list[0] ?? {})).to.deep.equal(['runId', 'endpoint', 'status', 'createdAt', 'finishedAt']);
      expect(list.map(({ status }) => status).sort()).to.deep.equal([
        ...Array<string>(3).fill('queued'),
        ...Array<string>(3).fill('succeeded'),
      ]);
    });

    it('are sorted last first for equal times', async () => {
      const bench = await open();
      await keep(bench, 'a', 'b', 'c');
      expect(await idsOf(bench)).to.deep.equal(['c', 'b', 'a']);
    });

    it('are counted by state', async () => {
      const bench = await open();
      const { runs, begin } = bench;
      expect(await runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: 0 });
      await begin();
      await (await begin()).start();
      await keep(bench, 'a');
      expect(await runs.counts()).to.deep.equal({ queued: 1, running: 1, kept: 1 });
    });
  });

  describe('above the capacity', () => {
    it('are dropped, the least recently used one first', async () => {
      const bench = await open();
      await keep(bench, 'a', 'b', 'c');
      await bench.runs.get('a');
      await keep(bench, 'd');
      expect((await idsOf(bench)).sort()).to.deep.equal(['a', 'c', 'd']);
      expect(await bench.runs.get('b')).to.be.undefined;
      expect((await bench.runs.counts()).kept).to.equal(3);
    });

    it('continue if they are active, and are stored when they end', async () => {
      const bench = await open();
      const { runs, begin } = bench;
      const job = await begin();
      await job.start();
      await keep(bench, 'a', 'b', 'c', 'd');
      expect((await runs.get(job.runId))?.status).to.equal('running');
      expect(await idsOf(bench)).to.include(job.runId);
      await job.succeed();
      expect((await runs.wait(job.runId)).status).to.equal('succeeded');
      expect((await runs.get(job.runId))?.status).to.equal('succeeded');
      expect((await runs.counts()).kept).to.equal(3);
    });

    it('lose their files', async () => {
      const bench = await open();
      const { runs, begin } = bench;
      const job = await begin();
      await job.succeed('{}', { 'report.md': 'text' });
      await runs.wait(job.runId);
      const file = await runs.fileOf(job.runId, 'report.md');
      await keep(bench, 'b', 'c', 'd');
      expect(await runs.get(job.runId)).to.be.undefined;
      await eventuallyGone(file);
    });
  });

  describe('with waiting clients', () => {
    it('notify all that wait', async () => {
      const { runs, begin } = await open();
      const job = await begin();
      const waiting = [runs.wait(job.runId), runs.wait(job.runId, new AbortController().signal), runs.wait(job.runId)];
      await job.succeed();
      const [first, ...others] = await Promise.all(waiting);
      expect(first?.status).to.equal('succeeded');
      for (const record of others) expect(record).to.deep.equal(first);
    });

    it('continue if a waiting client gives up, before or during the wait', async () => {
      const { runs, begin } = await open();
      const job = await begin();
      const reason = new Error('gone');
      const controller = new AbortController();
      const waiting = runs.wait(job.runId, controller.signal);
      await settle();
      controller.abort(reason);
      for (const work of [waiting, runs.wait(job.runId, controller.signal)]) {
        expect(await work.catch((error: unknown) => error)).to.equal(reason);
      }
      await job.succeed();
      expect((await runs.wait(job.runId)).status).to.equal('succeeded');
    });
  });

  describe('known only to their waiting client', () => {
    const waitedFor = { isWaitedFor: true };
    const tooWide = new ServiceProblem(422, { detail: 'There is no column y.' });

    it('are known while they wait or run, and are stored if they succeed', async () => {
      const bench = await open();
      const { runs, begin } = bench;
      const job = await begin(waitedFor);
      expect(await idsOf(bench)).to.deep.equal([job.runId]);
      await job.start();
      expect((await runs.get(job.runId))?.status).to.equal('running');
      await job.succeed();
      const record = await runs.wait(job.runId);
      expect(await runs.get(job.runId)).to.deep.equal(record);
    });

    for (const failure of [new ServiceProblem(502, { detail: 'The provider is away.' }), new Error('no')]) {
      it(`are stored if they fail without an error of the client: ${failure.message}`, async () => {
        const { runs, begin } = await open();
        const job = await begin(waitedFor);
        await job.fail(failure);
        const record = await runs.wait(job.runId);
        expect(record.status).to.equal('failed');
        expect(await runs.get(job.runId)).to.deep.equal(record);
      });
    }

    it('are reported, also to a client that begins to wait later, and not stored if they fail by an error of the client', async () => {
      const bench = await open();
      const { runs, begin, upload, uploadsLeft } = bench;
      const job = await begin({ ...waitedFor, inputFolder: upload() });
      const events: RunEvent[] = [];
      await runs.follow(job.runId, 0, (event) => events.push(event));
      const waiting = runs.wait(job.runId);
      await job.fail(tooWide);
      const problem = { ...tooWide.toJSON(), run_id: job.runId };
      expect(await waiting).to.deep.include({ status: 'failed', problem });
      await eventually(() => events.some((event) => event.type === 'status' && event.status === 'failed'));
      await eventually(() => uploadsLeft().length === 0);
      expect([await runs.get(job.runId), await runs.list()]).to.deep.equal([undefined, []]);
      expect(await runs.follow(job.runId, 0, () => expect.fail())).to.be.undefined;
      expect((await runs.wait(job.runId)).problem).to.deep.equal(problem);
    });

    it('are not stored if they are cancelled, waiting or running', async () => {
      for (const isAtWork of [false, true]) {
        const bench = await open();
        const { runs, begin } = bench;
        const job = await begin(waitedFor);
        if (isAtWork) await job.start();
        const waiting = runs.wait(job.runId);
        await settle();
        expect(await runs.remove(job.runId)).to.equal('cancelled');
        expect((await waiting).status).to.equal('cancelled');
        expect([await runs.get(job.runId), await runs.list()]).to.deep.equal([undefined, []]);
        expect(await runs.remove(job.runId)).to.equal('unknown');
      }
    });

    it('do not displace stored results', async () => {
      const bench = await open();
      const { runs, begin } = bench;
      await keep(bench, 'a', 'b', 'c');
      for (let turn = 0; turn < 5; turn++) {
        const job = await begin(waitedFor);
        await job.fail(tooWide);
        await runs.wait(job.runId);
      }
      expect((await idsOf(bench)).sort()).to.deep.equal(['a', 'b', 'c']);
    });
  });

  describe('that are removed', () => {
    it('leave the queue immediately if they are waiting', async () => {
      const { runs, begin, upload, uploadsLeft } = await open();
      const job = await begin({ inputFolder: upload() });
      const waiting = runs.wait(job.runId);
      await settle();
      expect(await runs.remove(job.runId)).to.equal('cancelled');
      const record = await waiting;
      expect(record.status).to.equal('cancelled');
      expect(record.problem?.detail).to.include('cancelled on request');
      expect(await runs.get(job.runId)).to.deep.equal(record);
      await eventually(() => uploadsLeft().length === 0);
      expect((await runs.counts()).queued).to.equal(0);
    });

    it('are cancelled immediately if they are running, and the result of the job is dropped', async () => {
      const { runs, begin, logged } = await open();
      const job = await begin();
      const events: RunEvent[] = [];
      await runs.follow(job.runId, 0, (event) => events.push(event));
      await job.start();
      expect(await runs.remove(job.runId)).to.equal('cancelled');
      expect((await runs.get(job.runId))?.status).to.equal('cancelled');
      await eventually(() => job.isAskedToStop());
      job.report(1, 'late');
      await job.succeed('{}', { 'report.md': 'late' });
      await settle();
      expect(await runs.get(job.runId)).to.deep.include({ status: 'cancelled', body: null, files: [] });
      await eventually(() => events.length === 3);
      expect(events.map((event) => (event.type === 'status' ? event.status : event.stage))).to.deep.equal([
        'queued',
        'running',
        'cancelled',
      ]);
      expect(logged).to.deep.equal([]);
    });

    it('are deleted after the second removal', async () => {
      const { runs, begin } = await open();
      const job = await begin();
      await job.start();
      expect(await runs.remove(job.runId)).to.equal('cancelled');
      expect(await runs.remove(job.runId)).to.equal('removed');
      expect(await runs.get(job.runId)).to.be.undefined;
      expect(await runs.remove(job.runId)).to.equal('unknown');
      await job.fail(new Error('stopped'));
      await settle();
      expect(await runs.get(job.runId)).to.be.undefined;
      expect((await problemOf(runs.wait(job.runId))).status).to.equal(404);
    });

    it('are deleted with their files after their end', async () => {
      const { runs, begin } = await open();
      const job = await begin();
      await job.succeed('{}', { 'report.md': 'text' });
      await runs.wait(job.runId);
      await settle();
      const file = await runs.fileOf(job.runId, 'report.md');
      expect(await runs.remove(job.runId)).to.equal('removed');
      expect(await runs.get(job.runId)).to.be.undefined;
      expect(await runs.follow(job.runId, 0, () => undefined)).to.be.undefined;
      expect(await runs.remove(job.runId)).to.equal('unknown');
      await eventuallyGone(file);
    });
  });

  it('are rejected when the service is ending, and active ones can be read', async () => {
    const { runs, begin, request, upload, uploadsLeft, startEnding } = await open();
    const job = await begin();
    await job.start();
    startEnding();
    const problem = await problemOf(runs.submit(request({ inputFolder: upload() })));
    expect(problem.status).to.equal(503);
    expect(problem.headers).to.have.property('Retry-After');
    expect(uploadsLeft()).to.deep.equal([]);
    expect((await runs.get(job.runId))?.status).to.equal('running');
    await job.succeed();
    await eventually(() => true);
  });
});

/** Waits until a file cannot be read any more. */
async function eventuallyGone(file: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await readFile(file).catch(() => undefined)) === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${file} is still there.`);
}
