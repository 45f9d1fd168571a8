import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { isFinal, type RunEvent, type RunRecord, type RunRequest } from '../../../src/api/runs/runs.ts';
import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import type { TaskQueue } from '../../../src/io/queue/task-queue.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { until } from '../../helpers/waiting.ts';
import { requestsIn } from '../runs/runs-bench.ts';
import { type Host, type HostOptions, openHost } from './redis-fixture.ts';

async function problemOf(work: Promise<unknown>): Promise<ServiceProblem> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceProblem)) throw new Error(`no problem, but ${String(error)}`);
  return error;
}

/** A queue that never does anything, like that of a host which is lost before it adds a task. */
const SILENT_QUEUE: TaskQueue = {
  name: 'silent',
  run: () => new Promise(() => undefined),
  counts: () => Promise.resolve({ queued: 0, running: 0 }),
  close: () => Promise.resolve(),
};

/** A queue whose tasks fail with an error. */
const failingQueue = (error: Error): TaskQueue => ({ ...SILENT_QUEUE, run: () => Promise.reject(error) });

const shown = (event: RunEvent) =>
  event.type === 'status' ? event.status : `${event.stage} ${event.done}/${event.total}`;

describeWithRedis('hosts that share runs', (redis) => {
  const root = useTemporaryFolder();
  const opened: Host[] = [];
  let prefix = '';
  beforeEach(() => {
    prefix = `test-${randomUUID()}`;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((host) => host.close()));
  });
  const open = async (options: Partial<HostOptions> = {}): Promise<Host> => {
    const host = await openHost({ url: redis().url, root: root(), prefix, ...options });
    opened.push(host);
    return host;
  };
  const crash = async (host: Host) => {
    opened.splice(opened.indexOf(host), 1);
    await host.crash();
  };
  const request = (changes: Partial<RunRequest> = {}) =>
    requestsIn(mkdtempSync(path.join(root(), 'in-'))).request(changes);
  const begin = async ({ runs }: Host, changes: Partial<RunRequest> = {}) =>
    (await runs.submit(request(changes))).runId;
  const jobAt = async ({ runner }: Host, runId: string) => {
    await until(() => runner.jobs.some(({ options }) => options.folder.endsWith(runId)));
    return runner.of(runId);
  };
  const follow = async ({ runs }: Host, runId: string) => {
    const events: RunEvent[] = [];
    await runs.follow(runId, 0, (event) => events.push(event));
    const hasEnded = () => events.some((event) => event.type === 'status' && isFinal(event.status));
    return { events, hasEnded };
  };

  it('tell a client that waits on another host that its run is removed, and never give a result without content', async () => {
    const first = await open({ limits: { maxRuns: 100 } });
    first.queue.isAutomatic = true;
    const second = await open({ queue: first.queue, limits: { maxRuns: 100 } });
    for (let again = 0; again < 60; again++) {
      const runId = await begin(first);
      const waiting = second.runs.wait(runId).catch((error: unknown) => error);
      const job = await jobAt(first, runId);
      job.succeed({ body: '{"passed":true}' });
      while (!isFinal((await first.runs.get(runId))?.status ?? 'succeeded'));
      expect(await first.runs.remove(runId)).to.equal('removed');
      const found = await waiting;
      if (found instanceof ServiceProblem) expect(found.status).to.equal(404);
      else
        expect((found as RunRecord).body)
          .to.be.a('string')
          .that.includes('"passed":true');
    }
  });

  describe('if a host is lost', () => {
    const limits = { leaseMillis: 300 };

    it('finish its run, whose task is on the queue, with events in one order', async () => {
      const second = await open({ limits });
      const first = await open({ limits, queue: second.queue });
      const runId = await begin(first);
      const { events, hasEnded } = await follow(second, runId);
      await until(() => second.queue.tasks.has(runId));
      second.queue.start(runId);
      const job = await jobAt(second, runId);
      job.options.onProgress({ stage: 'rows', done: 1, total: 3 });
      await until(() => events.length === 3);
      await crash(first);
      await pause(600);
      job.options.onProgress({ stage: 'rows', done: 2, total: 3 });
      await until(() => events.length === 4);
      job.succeed({ body: '{"passed":true}' });
      await until(hasEnded);
      expect(events.map(shown)).to.deep.equal(['queued', 'running', 'rows 1/3', 'rows 2/3', 'succeeded']);
      expect(events.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5]);
      expect((await second.runs.get(runId))?.body).to.include('"passed":true');
      expect(await second.runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: 1 });
    });

    it('execute a run that was accepted but is not on the queue yet, from the stored upload', async () => {
      const first = await open({ limits, queue: SILENT_QUEUE });
      const runId = await begin(first);
      await crash(first);
      const second = await open({ limits });
      await until(() => second.queue.tasks.has(runId));
      second.queue.start(runId);
      const { job, ...control } = await jobAt(second, runId);
      expect(await readFile('path' in job ? job.path : '', 'utf8')).to.equal('a,b\n1,2\n');
      control.succeed();
      await until(async () => (await second.runs.get(runId))?.status === 'succeeded');
      await until(() => second.workLeft().length === 0);
    });

    it('never take over a run of a host that answers', async () => {
      const second = await open({ limits });
      const first = await open({ limits, queue: SILENT_QUEUE });
      const runId = await begin(first);
      await pause(1500);
      expect(second.queue.tasks.size).to.equal(0);
      expect((await second.runs.get(runId))?.status).to.equal('queued');
    });

    it('record one end if two hosts look after a run', async () => {
      const second = await open({ limits });
      const first = await open({ limits, queue: second.queue });
      const runId = await begin(first);
      // As if the first host had been silent for a while.
      await until(async () => {
        await second.redis.client.call('ZADD', `${prefix}:runs:active`, 0, runId);
        return second.queue.tasks.get(runId)?.callers.size === 2;
      });
      const { events, hasEnded } = await follow(second, runId);
      second.queue.start(runId);
      const job = await jobAt(second, runId);
      job.options.onProgress({ stage: 'rows', done: 1, total: 3 });
      await until(() => events.length === 3);
      job.succeed({ body: '{}' });
      await until(hasEnded);
      await pause(100);
      expect(events.map(shown)).to.deep.equal(['queued', 'running', 'rows 1/3', 'succeeded']);
      expect([...first.logged, ...second.logged]).to.deep.equal([]);
    });

    it('stop a job that was cancelled while nobody looked after it', async () => {
      const second = await open({ limits: { leaseMillis: 60_000 } });
      const first = await open({ queue: second.queue });
      const runId = await begin(first);
      await until(() => second.queue.tasks.has(runId));
      second.queue.start(runId);
      const job = await jobAt(second, runId);
      await crash(first);
      expect(await second.runs.remove(runId)).to.equal('cancelled');
      await until(() => job.options.signal.aborted);
      expect((await second.runs.get(runId))?.status).to.equal('cancelled');
    });
  });

  describe('if Redis stops answering', function () {
    this.timeout(60_000);

    it('answer requests with 503 within seconds, and continue when it is back, with no run lost or doubled', async () => {
      const [first, second] = [await open(), await open()];
      const runId = await begin(first);
      await until(() => first.queue.tasks.has(runId));
      first.queue.start(runId);
      const job = await jobAt(first, runId);
      const { events, hasEnded } = await follow(second, runId);
      const waiting = problemOf(second.runs.wait(runId));
      await pause(50);
      await redis().kill();
      const start = performance.now();
      for (const { runs } of [first, second]) {
        const claim = { key: 'k', fingerprint: 'f' };
        const failed = [
          problemOf(runs.get(runId)),
          problemOf(runs.list()),
          problemOf(runs.counts()),
          problemOf(runs.remove(runId)),
          problemOf(runs.submit(request())),
          problemOf(runs.submit(request({ idempotency: claim }))),
          problemOf(runs.follow(runId, 0, () => undefined)),
          problemOf(runs.keep({ runId: 'a', endpoint: '/validate', createdAt: new Date().toISOString(), body: '{}' })),
        ];
        for (const problem of await Promise.all(failed)) {
          expect(problem.status).to.equal(503);
          expect(problem.headers).to.have.property('Retry-After', '5');
          expect(problem.detail).to.equal('The service cannot reach the store that its hosts share.');
        }
      }
      expect(performance.now() - start).to.be.below(5000);
      job.options.onProgress({ stage: 'lost', done: 1, total: 2 });
      job.succeed({ body: '{"passed":true}' });
      expect(await waiting).to.include({ status: 503, runId });
      expect(performance.now() - start).to.be.within(4000, 10_000);
      await redis().start();
      await until(hasEnded, 30);
      // A report is recorded late, or not at all.
      const statuses = events.filter(({ type }) => type === 'status');
      expect(statuses.map(shown)).to.deep.equal(['queued', 'running', 'succeeded']);
      expect(events.map(({ id }) => id)).to.deep.equal(events.map((_, index) => index + 1));
      expect((await first.runs.list()).map(({ runId: id }) => id)).to.deep.equal([runId]);
      expect((await second.runs.wait(runId)).body).to.include('"passed":true');
      const again = await begin(second);
      await until(() => second.queue.tasks.has(again));
      expect((await first.runs.list()).map(({ runId: id }) => id)).to.deep.equal([again, runId]);
    });

    it('undo a request whose answer came too late, also its idempotency key', async () => {
      const host = await open();
      redis().freeze();
      const start = performance.now();
      const idempotency = { key: 'k', fingerprint: 'f' };
      const problems = await Promise.all([
        problemOf(host.runs.submit(request())),
        problemOf(host.runs.submit(request({ idempotency }))),
        problemOf(host.runs.get('a')),
      ]);
      expect(problems.map(({ status }) => status)).to.deep.equal([503, 503, 503]);
      expect(performance.now() - start).to.be.below(8000);
      const soon = performance.now();
      expect((await problemOf(host.runs.list())).status).to.equal(503);
      expect(performance.now() - soon, 'known to be away').to.be.below(500);
      redis().thaw();
      await until(async () => (await host.runs.list().catch(() => undefined))?.length === 0);
      await until(async () => (await host.keys('*')).filter((key) => !/^runs/.test(key)).length === 0);
      expect(host.queue.tasks.size).to.equal(0);
      const { isReplay } = await host.runs.submit(request({ idempotency }));
      expect(isReplay).to.be.false;
    });

    it('remove a run whose recording was not confirmed', async () => {
      const host = await open();
      const { client } = host.prompt;
      const call = client.call.bind(client);
      let isSent = false;
      // The command reaches Redis, but its answer is lost.
      client.call = async (command, ...args) => {
        const answer = await call(command, ...args);
        if (answer !== 'created') return answer;
        isSent = true;
        throw new Error('Command timed out');
      };
      const idempotency = { key: 'k', fingerprint: 'f' };
      expect((await problemOf(host.runs.submit(request({ idempotency })))).status).to.equal(503);
      expect(isSent).to.be.true;
      await until(async () => (await host.keys('run:*')).length + (await host.keys('key:*')).length === 0);
      client.call = call;
      await until(async () => (await host.runs.list().catch(() => undefined))?.length === 0);
      expect((await host.runs.submit(request({ idempotency }))).isReplay).to.be.false;
    });

    it('tell clients that a run is lost if Redis has lost its data', async () => {
      const host = await open({ limits: { leaseMillis: 900 } });
      const runId = await begin(host);
      await until(() => host.queue.tasks.has(runId));
      const { events, hasEnded } = await follow(host, runId);
      const waiting = problemOf(host.runs.wait(runId));
      await pause(100);
      const controller = host.queue.tasks.get(runId)?.controller;
      await host.redis.client.call('FLUSHALL');
      await until(hasEnded);
      expect(events.at(-1)).to.deep.equal({ id: 2 ** 31 - 1, type: 'status', status: 'failed' });
      expect((await waiting).status).to.equal(404);
      await until(() => controller?.signal.aborted === true);
      expect(await host.runs.list()).to.deep.equal([]);
    });

    describe('because it is full', () => {
      const limit = ({ redis: own }: Host, memory: string) => own.client.call('CONFIG', 'SET', 'maxmemory', memory);
      afterEach(async () => {
        const [host] = opened;
        if (host !== undefined) await limit(host, '0');
      });
      const detail = 'The store that the hosts of the service share cannot save anything at the moment.';

      it('reject new runs with 503, and read, end and remove those that are there', async () => {
        const host = await open();
        const { runs } = host;
        const [runId, other] = [await begin(host), await begin(host)];
        await until(() => host.queue.tasks.has(other));
        host.queue.start(runId);
        const job = await jobAt(host, runId);
        await limit(host, '1mb');
        const createdAt = new Date().toISOString();
        for (const problem of await Promise.all([
          problemOf(runs.submit(request())),
          problemOf(runs.keep({ runId: 'a', endpoint: '/validate', createdAt, body: '{}' })),
        ])) {
          expect([problem.status, problem.detail]).to.deep.equal([503, detail]);
          expect(problem.headers).to.have.property('Retry-After');
        }
        expect(host.logged.some(({ text }) => text.includes('rejected a command'))).to.be.true;
        expect((await runs.get(runId))?.status).to.equal('running');
        expect(await runs.remove(other)).to.equal('cancelled');
        expect(await runs.remove(other)).to.equal('removed');
        expect((await runs.list()).map(({ runId: id }) => id)).to.deep.equal([runId]);
        job.succeed({ body: '{}' });
        await until(async () => (await runs.get(runId))?.status === 'failed');
        expect((await runs.get(runId))?.problem).to.include({ status: 503, detail });
        await limit(host, '0');
        expect(await host.keys('run:*:blob*')).to.deep.equal([]);
        const again = await begin(host);
        expect((await runs.get(again))?.status).to.equal('queued');
      });

      it('keep looking after their runs', async () => {
        const second = await open({ limits: { leaseMillis: 600 } });
        const first = await open({ limits: { leaseMillis: 600 }, queue: SILENT_QUEUE });
        const runId = await begin(first);
        await limit(second, '1mb');
        await pause(1500);
        expect(second.queue.tasks.size).to.equal(0);
        await crash(first);
        await until(() => second.queue.tasks.has(runId));
      });
    });
  });

  describe('that stop', () => {
    it('leave their runs to others, cancel those that only their client waits for, and reject new ones', async () => {
      const second = await open();
      const first = await open({ queue: second.queue });
      const kept = await begin(first);
      const waited = await begin(first, { isWaitedFor: true });
      const waiting = first.runs.wait(waited).catch((error: unknown) => (error as ServiceProblem).status);
      const other = problemOf(first.runs.wait(kept));
      await pause(50);
      opened.splice(opened.indexOf(first), 1);
      await first.close();
      expect(await waiting).to.satisfy(
        (end: unknown) => end === 503 || (end as { status: string }).status === 'cancelled',
      );
      expect((await other).status).to.equal(503);
      expect(await second.runs.get(waited)).to.be.undefined;
      expect((await second.runs.get(kept))?.status).to.equal('queued');
      await until(() => (second.queue.tasks.get(kept)?.callers.size ?? 0) > 1, 10);
      second.queue.start(kept);
      (await jobAt(second, kept)).succeed();
      await until(async () => (await second.runs.get(kept))?.status === 'succeeded');
    });
  });

  describe('and a run that cannot be executed', () => {
    it('report a task that ended several workers', async () => {
      const details = { code: 'task-quarantined', context: { path: '/secret' } } as const;
      const error = new FairnessToolkitError('The task ended its worker 3 times, see /secret.', details);
      const host = await open({ queue: failingQueue(error) });
      const runId = await begin(host);
      await until(async () => (await host.runs.get(runId))?.status === 'failed');
      const problem = (await host.runs.get(runId))?.problem;
      expect(problem).to.include({
        status: 500,
        run_id: runId,
        detail: 'The run ended several workers of the service, or stopped them from answering.',
      });
      expect(JSON.stringify(problem)).not.to.include('secret');
      expect(host.logged.map(({ fields }) => fields.err)).to.deep.equal([error]);
    });

    it('report an upload that is lost or damaged', async () => {
      for (const value of [null, 'x,y\n1,2\n', 'a']) {
        const host = await open();
        const runId = await begin(host);
        const [part = ''] = (await host.keys(`run:${runId}:blob:*:0`)).map((key) => `${prefix}:${key}`);
        await (value === null ? host.redis.client.call('DEL', part) : host.redis.client.call('SET', part, value));
        await until(() => host.queue.tasks.has(runId));
        host.queue.start(runId);
        await until(async () => (await host.runs.get(runId))?.status === 'failed');
        expect((await host.runs.get(runId))?.problem).to.include({
          status: 503,
          detail: 'The upload of this run is not stored any more.',
        });
        expect(host.runner.jobs).to.deep.equal([]);
      }
    });

    it('report an outcome that is not one', async () => {
      for (const values of [null, 7, { isProblem: false }, { isProblem: true, files: [], outcome: { name: '../x' } }]) {
        const host = await open({ queue: { ...SILENT_QUEUE, run: () => Promise.resolve({ values, bytes: {} }) } });
        const runId = await begin(host);
        await until(async () => (await host.runs.get(runId))?.status === 'failed');
        expect((await host.runs.get(runId))?.problem).to.include({ status: 500 });
      }
    });
  });

  describe('do not trust what is stored', () => {
    const createdAt = new Date().toISOString();
    const damages: Readonly<Record<string, readonly [field: string, value: string]>> = {
      'a status that does not exist': ['status', 'excellent'],
      'another body': ['body', '{"run_id":"a","passed":true}'],
      'a body without a checksum': ['digest', ''],
      'a problem that is not one': ['problem', '{"status":200}'],
      'a problem that is not JSON': ['problem', '{'],
      'files outside its folder': [
        'files',
        '[{"name":"../../etc/passwd","digest":"' + 'a'.repeat(64) + '","bytes":1}]',
      ],
      'files of other keys': ['files', '[{"name":"report.md","digest":"../other","bytes":1}]'],
      'a huge file': ['files', '[{"name":"report.md","digest":"' + 'a'.repeat(64) + '","bytes":1e300}]'],
      'an event that is not a number': ['event', 'NaN'],
      'a time that is not one': ['created', 'yesterday'],
      'an endpoint that does not exist': ['endpoint', '/admin'],
    };
    for (const [damage, [field, value]] of Object.entries(damages)) {
      it(`but answer 500 for a run with ${damage}, which can be deleted`, async () => {
        const { runs, redis: own, logged } = await open();
        await runs.keep({ runId: 'a', endpoint: '/validate', createdAt, body: '{"run_id":"a","passed":false}' });
        await runs.keep({ runId: 'b', endpoint: '/validate', createdAt, body: '{}' });
        await own.client.call('HSET', `${prefix}:run:a`, field, value);
        const problem = await problemOf(runs.get('a'));
        expect(problem).to.include({ status: 500, runId: 'a' });
        expect((await problemOf(runs.fileOf('a', 'report.md'))).status).to.equal(500);
        expect(logged.length).to.be.at.least(1);
        expect((await runs.get('b'))?.status).to.equal('succeeded');
        const isListed = (await runs.list()).some(({ runId }) => runId === 'a');
        expect(isListed).to.equal(!['status', 'created', 'endpoint'].includes(field));
        expect(await runs.remove('a')).to.be.oneOf(['removed', 'unknown']);
      });
    }

    it('but leave out reports that are not valid', async () => {
      const host = await open();
      const runId = await begin(host);
      await until(() => host.queue.tasks.has(runId));
      host.queue.start(runId);
      await until(async () => (await host.runs.get(runId))?.status === 'running');
      const key = `${prefix}:run:${runId}`;
      for (const text of ['3 {', '4 ["a"]', '5 ["ok",1,2]', 'x ["a",1,2]', '-1 ["a",1,2]', '99 ["a",1,2]']) {
        await host.redis.client.call('RPUSH', `${key}:events`, text);
      }
      await host.redis.client.call('HSET', key, 'event', 8);
      const { events } = await follow(host, runId);
      expect(events.map(shown)).to.deep.equal(['queued', 'running', 'ok 1/2']);
    });

    it('but ignore announcements that are not theirs', async () => {
      const host = await open();
      const runId = await begin(host);
      await until(() => host.queue.tasks.has(runId));
      for (const message of ['', 'ended', `${runId} ended`, `${runId} removed`, '../x removed', 'x'.repeat(100_000)]) {
        await host.redis.client.call('PUBLISH', `${prefix}:runs:news`, message);
      }
      await pause(100);
      expect((await host.runs.get(runId))?.status).to.equal('queued');
      expect(host.queue.tasks.get(runId)?.controller.signal.aborted).to.be.false;
    });

    it('but execute no job that is not one', async () => {
      const host = await open();
      const runId = await begin(host);
      const stored = JSON.stringify({
        job: { kind: 'pipeline', path: '/etc/passwd', config: '', fields: {} },
        uploads: {},
      });
      await host.redis.client.call('HSET', `${prefix}:run:${runId}`, 'job', stored);
      await until(() => host.queue.tasks.has(runId));
      host.queue.start(runId);
      await until(async () => (await host.runs.get(runId).catch(() => undefined))?.status === 'failed');
      expect(host.runner.jobs).to.deep.equal([]);
    });
  });

  describe('limit what is stored', () => {
    const createdAt = new Date().toISOString();

    it('by its size, with files', async () => {
      const host = await open({ limits: { maxRuns: 100, maxBytes: 20_000 } });
      const { runs } = host;
      const runId = await begin(host);
      await until(() => host.queue.tasks.has(runId));
      host.queue.start(runId);
      const job = await jobAt(host, runId);
      const { writeFile } = await import('node:fs/promises');
      await writeFile(path.join(job.options.folder, 'data.csv'), 'x'.repeat(10_000));
      job.succeed({ body: '{}', files: ['data.csv'] });
      await runs.wait(runId);
      const keep = (id: string, length: number) =>
        runs.keep({ runId: id, endpoint: '/validate', createdAt, body: `{"a":"${'x'.repeat(length)}"}` });
      await keep('a', 5000);
      expect((await runs.counts()).kept).to.equal(2);
      await keep('b', 5000);
      expect(await runs.get(runId), 'the oldest').to.be.undefined;
      expect((await host.keys(`run:${runId}:blob*`)).length).to.equal(0);
      expect((await runs.counts()).kept).to.equal(2);
      await keep('c', 50_000);
      expect((await runs.list()).map(({ runId: id }) => id)).to.deep.equal(['c']);
      expect(Number(await host.redis.client.call('GET', `${prefix}:runs:bytes`))).to.be.within(50_000, 52_000);
      expect((await runs.get('c'))?.status).to.equal('succeeded');
    });

    it('by time, without leftovers', async () => {
      const host = await open({ limits: { keepSeconds: 1, leaseMillis: 300 } });
      await host.runs.keep({ runId: 'a', endpoint: '/validate', createdAt, body: '{}' });
      expect((await host.runs.counts()).kept).to.equal(1);
      await until(async () => (await host.runs.counts()).kept === 0);
      expect(await host.runs.get('a')).to.be.undefined;
      expect(await host.runs.list()).to.deep.equal([]);
      expect(Number(await host.redis.client.call('GET', `${prefix}:runs:bytes`))).to.equal(0);
    });

    it('by the number of idempotency keys, of which the oldest is dropped', async () => {
      const host = await open({ limits: { maxQueued: 20_000 } });
      const record = { endpoint: '/validate', createdAt, status: 'queued', finishedAt: null, body: null } as const;
      const rest = { problem: null, lastEventId: 0, files: [] };
      const job = { job: { kind: 'llm-eval', body: '{}' }, uploads: {} } as const;
      for (let number = 0; number < 4; number++) {
        const runId = `run-${String(number)}`;
        const claim = host.ledger.claimOf({ key: String(number), fingerprint: 'f' }, runId, 0, '');
        const run = { record: { ...record, ...rest, runId }, job, isWaitedFor: false, download: undefined, claim };
        expect(await host.ledger.create(run, 1000, 3)).to.equal('created');
      }
      const known = await Promise.all([0, 1, 2, 3].map((number) => host.ledger.claimed({ key: String(number) })));
      expect(known.map((one) => one?.runId)).to.deep.equal([undefined, 'run-1', 'run-2', 'run-3']);
    });
  });
});
