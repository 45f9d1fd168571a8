import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import type { RunEvent, RunRecord } from '../../../src/api/runs/runs.ts';
import { FileResultStore, ResultStore, type ResultStoreLike } from '../../../src/api/store/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { createFixture, eventually, type Fixture, settle } from './runs-fixture.ts';

/** Returns the problem with which a promise rejects. */
async function problemOf(work: Promise<unknown>): Promise<ServiceProblem> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceProblem)) throw new Error(`no problem, but ${String(error)}`);
  return error;
}

/** A store whose writes can be made to fail. */
class BreakableStore implements ResultStoreLike<RunRecord> {
  readonly inner = new ResultStore<RunRecord>();
  isBroken = false;

  get(id: string) {
    return this.inner.get(id);
  }

  set(id: string, record: RunRecord) {
    return this.isBroken ? Promise.reject(new Error('the disk is full at /secret')) : this.inner.set(id, record);
  }

  has(id: string) {
    return this.inner.has(id);
  }

  delete(id: string) {
    return this.isBroken ? Promise.reject(new Error('the disk is gone')) : this.inner.delete(id);
  }

  entries() {
    return this.inner.entries();
  }
}

describe('runs', () => {
  const root = useTemporaryFolder();
  const create = (options: Parameters<typeof createFixture>[1] = {}): Fixture => createFixture(root(), options);
  /** Unhandled errors. */
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  before(() => process.on('unhandledRejection', note));
  after(() => process.off('unhandledRejection', note));
  afterEach(() => {
    expect(unhandled.splice(0)).to.deep.equal([]);
  });

  describe('from submission to end', () => {
    it('pass through queued, running and succeeded', async () => {
      const { runs, begin, pass, now, upload, uploadsLeft, leaveFile, foldersLeft } = create();
      const created = now();
      const { runId, job } = await begin({ inputFolder: upload() });
      const queued = { runId, endpoint: '/pipeline', status: 'queued', createdAt: created, finishedAt: null };
      expect(await runs.get(runId)).to.deep.equal({ ...queued, body: null, problem: null, lastEventId: 0, files: [] });
      expect(job.options.folder).to.equal(runs.folderOf(runId));
      expect(readdirSync(job.options.folder)).to.deep.equal([]);
      job.start();
      expect((await runs.get(runId))?.status).to.equal('running');
      expect(uploadsLeft()).to.have.length(1);
      pass(1500);
      leaveFile(runId);
      job.succeed({ body: '{"passed": false, "metrics": {}}\n', files: ['report.md'] });
      const record = await runs.wait(runId);
      expect(record).to.deep.equal({
        ...queued,
        status: 'succeeded',
        finishedAt: '2024-01-01T00:00:01.500Z',
        body: `{"run_id":"${runId}","status":"success","passed": false, "metrics": {},"timestamp":"2024-01-01T00:00:01.500Z"}`,
        problem: null,
        lastEventId: 3,
        files: ['report.md'],
      });
      expect(await runs.get(runId)).to.deep.equal(record);
      expect(await runs.wait(runId)).to.deep.equal(record);
      expect(uploadsLeft()).to.deep.equal([]);
      expect(foldersLeft()).to.deep.equal([runId]);
    });

    for (const body of ['{}', ' {\n} \n']) {
      it(`return an object if a job returns ${JSON.stringify(body)}`, async () => {
        const { runs, begin, foldersLeft } = create();
        const { runId, job } = await begin();
        job.succeed({ body });
        const record = await runs.wait(runId);
        expect(JSON.parse(record.body ?? '')).to.deep.equal({
          run_id: runId,
          status: 'success',
          timestamp: record.finishedAt,
        });
        await eventually(() => foldersLeft().length === 0);
      });
    }

    for (const body of ['', '[1]', 'null', '{"a":1']) {
      it(`fail if a job returns ${JSON.stringify(body)}`, async () => {
        const { runs, begin, logged } = create();
        const { runId, job } = await begin();
        job.succeed({ body });
        expect(await runs.wait(runId)).to.deep.include({ status: 'failed', body: null });
        expect(logged).to.have.length(1);
      });
    }

    it('fail with the problem that the job threw', async () => {
      const { runs, begin, logged, leaveFile, foldersLeft, upload, uploadsLeft } = create();
      const { runId, job } = await begin({ inputFolder: upload() });
      leaveFile(runId);
      job.start();
      job.fail(new ServiceProblem(422, { detail: 'There is no column y.', suggestion: 'Name one.' }));
      const { status, body, problem, files } = await runs.wait(runId);
      expect({ status, body, files }).to.deep.equal({ status: 'failed', body: null, files: [] });
      expect(problem).to.deep.equal({
        type: 'urn:evenhand:problem:invalid-request',
        title: 'The request cannot be processed',
        status: 422,
        code: 'invalid-request',
        detail: 'There is no column y.',
        suggestion: 'Name one.',
        run_id: runId,
      });
      await eventually(() => foldersLeft().length === 0);
      expect(uploadsLeft()).to.deep.equal([]);
      expect(logged).to.deep.equal([]);
    });

    it('fail with 500 and without details for any other error, which is logged', async () => {
      const { runs, begin, logged } = create();
      const { runId, job } = await begin();
      job.fail(new Error('secret at /home/someone'));
      const { problem } = await runs.wait(runId);
      expect(problem).to.include({ status: 500, run_id: runId });
      expect(JSON.stringify(problem)).not.to.include('secret');
      expect(logged[0]?.fields.runId).to.equal(runId);
      expect((logged[0]?.fields.err as Error).message).to.include('secret');
    });

    it('are rejected without leftovers if the queue is full', async () => {
      const { runs, runner, request, upload, uploadsLeft, foldersLeft, store } = create();
      runner.room = 0;
      const problem = await problemOf(runs.submit(request({ inputFolder: upload() })));
      expect(problem.status).to.equal(503);
      expect(problem.headers).to.have.property('Retry-After');
      expect([uploadsLeft(), foldersLeft(), await runs.list(), [...store.entries()]]).to.deep.equal([[], [], [], []]);
    });

    it('do not exceed the queue if they arrive at once', async () => {
      const { runs, runner, request, upload, uploadsLeft, foldersLeft } = create();
      runner.room = 2;
      const outcomes = await Promise.allSettled(
        [1, 2, 3, 4, 5].map(() => runs.submit(request({ inputFolder: upload() }))),
      );
      const accepted = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.runId] : []));
      expect(accepted).to.have.length(2);
      for (const one of outcomes) if (one.status === 'rejected') expect(one.reason).to.have.property('status', 503);
      expect((await runs.list()).map(({ runId }) => runId).sort()).to.deep.equal(accepted.sort());
      expect(foldersLeft()).to.deep.equal(accepted);
      expect(uploadsLeft()).to.have.length(2);
    });

    it('are rejected if their ID is not a file name', async () => {
      const { runs, request, upload, uploadsLeft } = create({ createId: () => '../elsewhere' });
      const failure: unknown = await runs.submit(request({ inputFolder: upload() })).catch((error: unknown) => error);
      expect((failure as Error).message).to.include('The createId parameter must');
      expect(uploadsLeft()).to.deep.equal([]);
      for (const id of ['..', '../a', 'a/b', '']) expect(() => runs.folderOf(id)).to.throw(ServiceProblem);
    });
  });

  describe('with an immediate answer', () => {
    it('are stored with it unchanged', async () => {
      const { runs, now, foldersLeft } = create();
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
      expect(foldersLeft()).to.deep.equal([]);
    });

    it('are rejected with 503 if the store fails, which is logged', async () => {
      const store = new BreakableStore();
      const { runs, now, logged } = create({ store });
      store.isBroken = true;
      const problem = await problemOf(runs.keep({ runId: 'a', endpoint: '/validate', createdAt: now(), body: '{}' }));
      expect(problem.toJSON()).to.include({ status: 503, run_id: 'a' });
      expect(JSON.stringify(problem)).not.to.include('secret');
      expect(logged).to.have.length(1);
    });
  });

  describe('in a list', () => {
    it('occur once each, newest first, independent of their last use', async () => {
      const { runs, begin, pass, now } = create({ store: new ResultStore<RunRecord>() });
      const ids: string[] = [];
      for (let i = 0; i < 3; i++) {
        ids.push((await begin()).runId);
        pass(10);
        await runs.keep({ runId: `kept-${i}`, endpoint: '/validate', createdAt: now(), body: '{}' });
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
      const { runs, now } = create();
      for (const runId of ['a', 'b', 'c'])
        await runs.keep({ runId, endpoint: '/validate', createdAt: now(), body: '{}' });
      expect((await runs.list()).map(({ runId }) => runId)).to.deep.equal(['c', 'b', 'a']);
    });

    it('are counted by state', async () => {
      const { runs, begin, now } = create();
      expect(await runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: 0 });
      await begin();
      (await begin()).job.start();
      await runs.keep({ runId: 'a', endpoint: '/validate', createdAt: now(), body: '{}' });
      expect(await runs.counts()).to.deep.equal({ queued: 1, running: 1, kept: 1 });
    });
  });

  describe('and the store', () => {
    it('continue if the store drops their record, and are stored when they end', async () => {
      const { runs, begin, now, store } = create();
      const { runId, job } = await begin();
      job.start();
      for (const id of ['a', 'b', 'c', 'd'])
        await runs.keep({ runId: id, endpoint: '/validate', createdAt: now(), body: '{}' });
      expect(store.has(runId)).to.be.false;
      expect((await runs.get(runId))?.status).to.equal('running');
      expect((await runs.list()).map((one) => one.runId)).to.include(runId);
      job.succeed();
      await runs.wait(runId);
      expect(store.has(runId)).to.be.true;
    });

    it('lose their files when the store drops them', async () => {
      const { runs, begin, leaveFile, now, foldersLeft } = create();
      const { runId, job } = await begin();
      leaveFile(runId);
      job.succeed({ files: ['report.md'] });
      await runs.wait(runId);
      await runs.keep({ runId: 'a', endpoint: '/validate', createdAt: now(), body: '{}' });
      await settle();
      expect(foldersLeft()).to.deep.equal([runId]);
      for (const id of ['b', 'c', 'd'])
        await runs.keep({ runId: id, endpoint: '/validate', createdAt: now(), body: '{}' });
      await eventually(() => foldersLeft().length === 0);
      expect(await runs.get(runId)).to.be.undefined;
    });

    it('are rejected without leftovers if the store cannot record them', async () => {
      const store = new BreakableStore();
      const { runs, request, upload, uploadsLeft, foldersLeft, runner, logged } = create({ store });
      store.isBroken = true;
      const problem = await problemOf(runs.submit(request({ inputFolder: upload() })));
      expect(problem.status).to.equal(503);
      expect([uploadsLeft(), foldersLeft(), runner.jobs, await runs.list()]).to.deep.equal([[], [], [], []]);
      expect(logged.length).to.be.at.least(1);
    });

    it('have failed with 503 for all clients if the store cannot store their end', async () => {
      const store = new BreakableStore();
      const { runs, begin, leaveFile, foldersLeft } = create({ store });
      const { runId, job } = await begin();
      const events: RunEvent[] = [];
      await runs.follow(runId, 0, (event) => events.push(event));
      store.isBroken = true;
      leaveFile(runId);
      job.succeed({ files: ['report.md'] });
      const record = await runs.wait(runId);
      expect(record).to.deep.include({ status: 'failed', body: null, files: [] });
      expect(record.problem).to.include({ status: 503, run_id: runId });
      expect(JSON.stringify(record.problem)).not.to.include('secret');
      expect(await runs.get(runId)).to.deep.equal(record);
      expect((await runs.list()).map(({ status }) => status)).to.deep.equal(['failed']);
      expect(events.at(-1)).to.deep.include({ type: 'status', status: 'failed' });
      await eventually(() => foldersLeft().length === 0);

      expect((await problemOf(runs.remove(runId))).status).to.equal(503);
      store.isBroken = false;
      expect(await runs.remove(runId)).to.equal('removed');
      expect(await runs.get(runId)).to.be.undefined;
    });

    it('drop the oldest of those that could not be stored', async () => {
      const store = new BreakableStore();
      const { runs, begin } = create({ store, capacity: 2 });
      const begun = [await begin(), await begin(), await begin()];
      store.isBroken = true;
      for (const { job } of begun) job.succeed();
      for (const { runId } of begun) expect((await runs.wait(runId)).problem?.status).to.equal(503);
      const details = await Promise.all(begun.map(async ({ runId }) => (await runs.get(runId))?.problem?.detail));
      expect(details[0]).to.equal('The service ended while this run was in progress.');
      expect(details[1]).to.equal(details[2]).and.to.include('could not be saved');
    });
  });

  describe('with waiting clients', () => {
    it('notify all that wait', async () => {
      const { runs, begin } = create();
      const { runId, job } = await begin();
      const waiting = [runs.wait(runId), runs.wait(runId, new AbortController().signal), runs.wait(runId)];
      job.succeed();
      const [first, ...others] = await Promise.all(waiting);
      for (const record of others) expect(record).to.equal(first);
    });

    it('continue if a waiting client gives up, before or during the wait', async () => {
      const { runs, begin } = create();
      const { runId, job } = await begin();
      const reason = new Error('gone');
      const controller = new AbortController();
      const waiting = runs.wait(runId, controller.signal);
      controller.abort(reason);
      for (const work of [waiting, runs.wait(runId, controller.signal)]) {
        expect(await work.catch((error: unknown) => error)).to.equal(reason);
      }
      job.start();
      job.succeed();
      expect((await runs.wait(runId)).status).to.equal('succeeded');
    });

    it('are answered with 404 if they are unknown', async () => {
      const { runs } = create();
      expect((await problemOf(runs.wait('nobody'))).status).to.equal(404);
    });
  });

  describe('known only to their waiting client', () => {
    const waitedFor = { isWaitedFor: true };
    const kept = async ({ runs, store }: Fixture, runId: string) => [
      store.has(runId),
      await runs.get(runId),
      await runs.list(),
    ];
    const tooWide = new ServiceProblem(422, { detail: 'There is no column y.' });

    it('are not recorded while they wait or run, but are known', async () => {
      const { runs, begin, store, upload } = create();
      const { runId, job } = await begin({ ...waitedFor, inputFolder: upload() });
      expect([...store.entries()]).to.deep.equal([]);
      expect((await runs.list()).map(({ status }) => status)).to.deep.equal(['queued']);
      job.start();
      expect([...store.entries()]).to.deep.equal([]);
      expect((await runs.get(runId))?.status).to.equal('running');
    });

    it('are stored if they succeed', async () => {
      const { runs, begin, store } = create();
      const { runId, job } = await begin(waitedFor);
      job.succeed();
      const record = await runs.wait(runId);
      expect(await store.get(runId)).to.deep.equal(record);
    });

    for (const failure of [new ServiceProblem(502, { detail: 'The provider is away.' }), new Error('no')]) {
      it(`are stored if they fail without an error of the client: ${failure.message}`, async () => {
        const { runs, begin, store } = create();
        const { runId, job } = await begin(waitedFor);
        job.fail(failure);
        const record = await runs.wait(runId);
        expect(record.status).to.equal('failed');
        expect(await store.get(runId)).to.deep.equal(record);
      });
    }

    it('are reported and not stored if they fail by an error of the client', async () => {
      const fixture = create();
      const { runs, begin, upload, uploadsLeft, foldersLeft, leaveFile } = fixture;
      const { runId, job } = await begin({ ...waitedFor, inputFolder: upload() });
      const events: RunEvent[] = [];
      await runs.follow(runId, 0, (event) => events.push(event));
      const waiting = runs.wait(runId);
      leaveFile(runId);
      job.fail(tooWide);
      expect(await waiting).to.deep.include({ status: 'failed', problem: { ...tooWide.toJSON(), run_id: runId } });
      expect(events.at(-1)).to.deep.equal({ id: 2, type: 'status', status: 'failed' });
      await eventually(() => foldersLeft().length + uploadsLeft().length === 0);
      expect(await kept(fixture, runId)).to.deep.equal([false, undefined, []]);
    });

    it('are reported to a client that begins to wait after they failed, as over a channel', async () => {
      const fixture = create();
      const { runs, begin } = fixture;
      const { runId, job } = await begin(waitedFor);
      job.fail(tooWide);
      await settle();
      expect(await kept(fixture, runId)).to.deep.equal([false, undefined, []]);
      expect((await runs.wait(runId)).problem).to.include({ status: 422, run_id: runId });
    });

    it('are reported late only for the last 500', async () => {
      const { runs, begin } = create({ capacity: 2 });
      const begun = [await begin(waitedFor), await begin(waitedFor), await begin(waitedFor)];
      for (const { job } of begun) job.fail(tooWide);
      await settle();
      const [first, second, third] = begun.map(({ runId }) => runId) as [string, string, string];
      expect((await problemOf(runs.wait(first))).status).to.equal(404);
      for (const runId of [second, third]) expect((await runs.wait(runId)).problem?.status).to.equal(422);
    });

    it('are not stored if they are cancelled, waiting or running', async () => {
      for (const isAtWork of [false, true]) {
        const fixture = create();
        const { runs, begin, foldersLeft } = fixture;
        const { runId, job } = await begin(waitedFor);
        if (isAtWork) job.start();
        const waiting = runs.wait(runId);
        expect(await runs.remove(runId)).to.equal('cancelled');
        expect((await waiting).status).to.equal('cancelled');
        if (isAtWork) job.fail(new Error('stopped'));
        await eventually(() => foldersLeft().length === 0);
        expect(await kept(fixture, runId)).to.deep.equal([false, undefined, []]);
        expect(await runs.remove(runId)).to.equal('unknown');
      }
    });

    it('do not displace stored results', async () => {
      const { runs, begin, now } = create();
      for (const id of ['a', 'b', 'c']) {
        await runs.keep({ runId: id, endpoint: '/validate', createdAt: now(), body: '{}' });
      }
      for (let turn = 0; turn < 5; turn++) {
        const { runId, job } = await begin(waitedFor);
        job.fail(tooWide);
        await runs.wait(runId);
      }
      expect((await runs.list()).map(({ runId }) => runId).sort()).to.deep.equal(['a', 'b', 'c']);
    });
  });

  describe('that are running', () => {
    it('are counted by the threads they use, including cancelled ones', async () => {
      const { runs, begin } = create();
      const [working, waiting] = [await begin(), await begin()];
      working.job.start();
      expect(await runs.counts()).to.deep.equal({ queued: 1, running: 1, kept: 0 });
      await runs.remove(working.runId);
      await runs.remove(waiting.runId);
      expect(await runs.counts()).to.deep.equal({ queued: 0, running: 1, kept: 2 });
      working.job.fail(new Error('stopped'));
      await settle();
      expect(await runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: 2 });
    });

    it('keep the folder with their upload until their job has ended, even if cancelled', async () => {
      const { runs, begin, upload } = create();
      const inputFolder = upload();
      expect(runs.hasInput(inputFolder)).to.be.false;
      const { runId, job } = await begin({ inputFolder });
      job.start();
      expect(runs.hasInput(inputFolder)).to.be.true;
      await runs.remove(runId);
      expect(runs.hasInput(inputFolder)).to.be.true;
      expect(runs.hasInput(path.join(inputFolder, '..', path.basename(inputFolder)))).to.be.true;
      job.fail(new Error('stopped'));
      await eventually(() => !runs.hasInput(inputFolder));
      expect(existsSync(inputFolder)).to.be.false;
    });

    it('own the folder from submission, but not if they are rejected or a replay', async () => {
      const { runs, runner, request, upload } = create();
      const idempotency = { key: 'k', fingerprint: 'f' };
      const [first, second, third] = [upload(), upload(), upload()];
      const submitting = runs.submit(request({ inputFolder: first, idempotency }));
      expect(runs.hasInput(first)).to.be.true;
      await submitting;
      await runs.submit(request({ inputFolder: second, idempotency }));
      runner.room = 0;
      await problemOf(runs.submit(request({ inputFolder: third })));
      expect([first, second, third].map((folder) => runs.hasInput(folder))).to.deep.equal([true, false, false]);
    });
  });

  describe('that are removed', () => {
    it('leave the queue immediately if they are waiting', async () => {
      const { runs, begin, upload, uploadsLeft, foldersLeft } = create();
      const { runId, job } = await begin({ inputFolder: upload() });
      const waiting = runs.wait(runId);
      expect(await runs.remove(runId)).to.equal('cancelled');
      expect(job.state).to.equal('ended');
      const record = await waiting;
      expect(record.status).to.equal('cancelled');
      expect(record.problem?.detail).to.include('cancelled on request');
      expect(await runs.get(runId)).to.deep.equal(record);
      await eventually(() => foldersLeft().length + uploadsLeft().length === 0);
    });

    it('are cancelled immediately if they are running, and the result of the job is dropped', async () => {
      const { runs, begin, leaveFile, upload, uploadsLeft, foldersLeft, logged } = create();
      const { runId, job } = await begin({ inputFolder: upload() });
      const events: RunEvent[] = [];
      await runs.follow(runId, 0, (event) => events.push(event));
      job.start();
      const removal = runs.remove(runId);
      await Promise.resolve();
      expect((await runs.get(runId))?.status).to.equal('cancelled');
      expect(await removal).to.equal('cancelled');
      expect(job.options.signal.aborted).to.be.true;
      await settle();
      expect(job.state, 'threads are not terminated').to.equal('running');
      expect(foldersLeft(), 'the job may still write').to.deep.equal([runId]);
      expect(uploadsLeft()).to.have.length(1);

      leaveFile(runId);
      job.options.onProgress({ stage: 'late', done: 1, total: 1 });
      job.succeed({ files: ['report.md'] });
      await eventually(() => foldersLeft().length + uploadsLeft().length === 0);
      expect((await runs.get(runId))?.status).to.equal('cancelled');
      expect(events.map((event) => (event.type === 'status' ? event.status : event.stage))).to.deep.equal([
        'queued',
        'running',
        'cancelled',
      ]);
      expect(logged).to.deep.equal([]);
    });

    it('are deleted after the second removal, and their files when the job has ended', async () => {
      const { runs, begin, foldersLeft } = create();
      const { runId, job } = await begin();
      job.start();
      expect(await runs.remove(runId)).to.equal('cancelled');
      expect(await runs.remove(runId)).to.equal('removed');
      expect(await runs.get(runId)).to.be.undefined;
      expect(await runs.remove(runId)).to.equal('unknown');
      expect(foldersLeft()).to.deep.equal([runId]);
      job.fail(new Error('stopped'));
      await eventually(() => foldersLeft().length === 0);
      expect(await runs.get(runId)).to.be.undefined;
    });

    it('are cancelled if removed while being accepted, and unknown if they are rejected', async () => {
      const { runs, request, foldersLeft } = create();
      const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
      const submitting = runs.submit(request());
      expect(await runs.remove(id(1))).to.equal('cancelled');
      expect((await runs.get((await submitting).runId))?.status).to.equal('cancelled');

      const refusing = problemOf(runs.submit(request()));
      const removal = runs.remove(id(2));
      await runs.close(1000);
      expect((await refusing).status).to.equal(503);
      expect(await removal).to.equal('unknown');
      expect(foldersLeft()).to.deep.equal([]);
    });

    it('are deleted with their files if removed while their end is being stored', async () => {
      const inner = new ResultStore<RunRecord>();
      const held: (() => void)[] = [];
      const store: ResultStoreLike<RunRecord> = {
        get: (id) => inner.get(id),
        has: (id) => inner.has(id),
        delete: (id) => inner.delete(id),
        entries: () => inner.entries(),
        set: async (id, record) => {
          if (record.status === 'succeeded') await new Promise<void>((resolve) => held.push(resolve));
          inner.set(id, record);
        },
      };
      const { runs, begin, leaveFile, foldersLeft } = create({ store });
      const { runId, job } = await begin();
      leaveFile(runId);
      job.succeed({ files: ['report.md'] });
      await eventually(() => held.length === 1);
      expect((await runs.get(runId))?.status, 'not before it is stored').to.equal('queued');
      const removal = runs.remove(runId);
      await settle();
      held[0]?.();
      expect(await removal).to.equal('removed');
      expect([await runs.get(runId), inner.size]).to.deep.equal([undefined, 0]);
      await eventually(() => foldersLeft().length === 0);
    });

    it('are deleted with their files after their end', async () => {
      const { runs, begin, leaveFile, foldersLeft } = create();
      const { runId, job } = await begin();
      leaveFile(runId);
      job.succeed({ files: ['report.md'] });
      await runs.wait(runId);
      await settle();
      expect(await runs.remove(runId)).to.equal('removed');
      expect(foldersLeft()).to.deep.equal([]);
      expect(await runs.get(runId)).to.be.undefined;
      expect(await runs.follow(runId, 0, () => undefined)).to.be.undefined;
      expect(await runs.remove(runId)).to.equal('unknown');
    });
  });

  describe('from an earlier process', () => {
    it('have failed if they had not ended, and are unchanged otherwise', async () => {
      const folder = path.join(root(), 'of two processes');
      const first = await FileResultStore.open<RunRecord>(folder);
      const before = create({ store: first });
      const ended = await before.begin();
      ended.job.succeed();
      const endedRecord = await before.runs.wait(ended.runId);
      const cut = await before.begin();
      cut.job.start();
      await first.close();

      const store = await FileResultStore.open<RunRecord>(folder);
      const { runs, now } = create({ store, filesFolder: before.filesFolder });
      await runs.start();
      expect(await runs.get(ended.runId)).to.deep.equal(endedRecord);
      const record = await runs.wait(cut.runId);
      expect(record).to.deep.include({ status: 'failed', finishedAt: now() });
      expect(record.problem).to.include({
        status: 503,
        detail: 'The service ended while this run was in progress.',
        run_id: cut.runId,
      });
      expect(store.get(cut.runId)).to.deep.equal(record);
      expect(existsSync(runs.folderOf(cut.runId))).to.be.false;
      await store.close();
    });

    it('keep files that belong to a result, and lose unknown ones; other folders are not changed', async () => {
      const { runs, begin, leaveFile, store, filesFolder } = create();
      const { runId, job } = await begin();
      leaveFile(runId);
      job.succeed({ files: ['report.md'] });
      await runs.wait(runId);
      mkdirSync(path.join(filesFolder, '3f2b8c1e-1111-4222-8333-444455556666'));
      mkdirSync(path.join(filesFolder, 'holiday-pictures'));
      writeFileSync(path.join(filesFolder, 'notes.txt'), '');

      const later = create({ store, filesFolder });
      await later.runs.start();
      expect(readdirSync(filesFolder).sort()).to.deep.equal([runId, 'holiday-pictures', 'notes.txt']);
      for (const id of ['a', 'b', 'c']) {
        await later.runs.keep({ runId: id, endpoint: '/validate', createdAt: later.now(), body: '{}' });
      }
      await eventually(() => !existsSync(path.join(filesFolder, runId)));
    });
  });

  describe('when the service is ending', () => {
    it('finish, including waiting ones, and new ones are rejected', async () => {
      const { runs, runner, begin, request, upload, uploadsLeft } = create();
      const [first, second] = [await begin(), await begin()];
      first.job.start();
      const closing = runs.close(10_000);
      const problem = await problemOf(runs.submit(request({ inputFolder: upload() })));
      expect(problem.status).to.equal(503);
      expect(problem.headers).to.have.property('Retry-After');
      expect(uploadsLeft()).to.deep.equal([]);
      first.job.succeed();
      await settle();
      expect(runner.closed).to.equal(0);
      second.job.start();
      second.job.succeed();
      await closing;
      expect(runner.closed).to.equal(1);
      for (const { runId } of [first, second]) expect((await runs.get(runId))?.status).to.equal('succeeded');
      await runs.close(0);
      expect(runner.closed).to.equal(1);
    });

    it('are cancelled if they do not end in time, and the runner is closed after the last job', async () => {
      const { runs, runner, begin, foldersLeft, upload, uploadsLeft } = create();
      const [working, waiting] = [await begin({ inputFolder: upload() }), await begin({ inputFolder: upload() })];
      working.job.start();
      const closing = runs.close(10);
      for (const { runId } of [working, waiting]) {
        const { status, problem } = await runs.wait(runId);
        expect(status).to.equal('cancelled');
        expect(problem).to.include({ status: 503, run_id: runId });
        expect(problem?.detail).to.include('The service ended before the run did');
      }
      await settle();
      expect(runner.closed).to.equal(0);
      working.job.succeed({ files: ['report.md'] });
      await closing;
      expect(runner.closed).to.equal(1);
      expect([foldersLeft(), uploadsLeft()]).to.deep.equal([[], []]);
    });

    it('are rejected if they are being accepted at that moment', async () => {
      const { runs, request, upload, uploadsLeft, foldersLeft } = create();
      const submitting = problemOf(runs.submit(request({ inputFolder: upload() })));
      const closing = runs.close(10_000);
      expect((await submitting).status).to.equal(503);
      await closing;
      expect([foldersLeft(), uploadsLeft(), await runs.list()]).to.deep.equal([[], [], []]);
    });

    it('take no time if nothing is running', async () => {
      const { runs, runner } = create();
      await runs.close(Infinity);
      expect(runner.closed).to.equal(1);
    });
  });
});
