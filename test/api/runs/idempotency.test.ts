import { expect } from 'chai';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { IdempotencyKeys } from '../../../src/api/runs/local-runs.ts';
import { type Bench, type BenchJob, describeRuns } from './runs-bench.ts';
import { eventually } from './runs-fixture.ts';

const DAY_MILLIS = 86_400_000;

const CLAIM = { key: 'client/key', fingerprint: 'this request' };

describeRuns('a request with an idempotency key', (open) => {
  const submission = ({ request, upload }: Bench, fingerprint = CLAIM.fingerprint) =>
    request({ idempotency: { ...CLAIM, fingerprint }, inputFolder: upload() });
  const send = (bench: Bench, fingerprint?: string) => bench.runs.submit(submission(bench, fingerprint));
  const problemOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ServiceProblem);
    return error as ServiceProblem;
  };

  it('is one run if it is sent several times at once', async () => {
    const bench = await open();
    const sent = await Promise.all(Array.from({ length: 8 }, () => send(bench)));
    expect(new Set(sent.map(({ runId }) => runId)).size).to.equal(1);
    expect(sent.filter(({ isReplay }) => !isReplay)).to.have.length(1);
    await eventually(() => bench.jobCount() === 1);
    expect(await bench.runs.list()).to.have.length(1);
    expect(bench.uploadsLeft().length).to.be.at.most(1);
  });

  it('is two runs with different keys, or without keys', async () => {
    const { runs, request, jobCount } = await open();
    await Promise.all([
      runs.submit(request({ idempotency: { ...CLAIM, key: 'client/one' } })),
      runs.submit(request({ idempotency: { ...CLAIM, key: 'client/two \n*' } })),
      runs.submit(request()),
      runs.submit(request()),
    ]);
    await eventually(() => jobCount() === 4);
  });

  const states: Readonly<Record<string, (bench: Bench, job: BenchJob) => Promise<unknown>>> = {
    queued: () => Promise.resolve(),
    running: (_, job) => job.start(),
    succeeded: async ({ runs }, job) => {
      await job.succeed();
      await runs.wait(job.runId);
    },
    'failed with 422': async ({ runs }, job) => {
      await job.fail(new ServiceProblem(422, { detail: 'no' }));
      await runs.wait(job.runId);
    },
  };
  for (const [state, reach] of Object.entries(states)) {
    it(`returns the same run while it is ${state}, and 422 for another request with its key`, async () => {
      const bench = await open();
      const job = await bench.begin(submission(bench));
      const { runId } = job;
      await reach(bench, job);
      const left = bench.uploadsLeft();
      bench.pass(DAY_MILLIS - 1);
      expect(await send(bench)).to.deep.equal({ runId, isReplay: true });
      expect((await problemOf(send(bench, 'another request'))).status).to.equal(422);
      expect(bench.uploadsLeft()).to.deep.equal(left);
      expect(bench.jobCount()).to.equal(1);
    });
  }

  const ends: Readonly<Record<string, (bench: Bench, job: BenchJob) => Promise<unknown>>> = {
    'was cancelled': ({ runs }, { runId }) => runs.remove(runId),
    'was removed': async ({ runs }, job) => {
      await job.succeed();
      await runs.wait(job.runId);
      await runs.remove(job.runId);
    },
    'failed with 502': async ({ runs }, job) => {
      await job.fail(new ServiceProblem(502, { detail: 'no' }));
      await runs.wait(job.runId);
    },
    'failed by an internal error': async ({ runs }, job) => {
      await job.fail(new Error('no'));
      await runs.wait(job.runId);
    },
    'was dropped by the store': async ({ runs, now }, job) => {
      await job.succeed();
      await runs.wait(job.runId);
      for (const id of ['a', 'b', 'c']) {
        await runs.keep({ runId: id, endpoint: '/validate', createdAt: now(), body: '{}' });
      }
    },
    'was a day ago': ({ pass }) => {
      pass(DAY_MILLIS);
      return Promise.resolve();
    },
  };
  for (const [end, reach] of Object.entries(ends)) {
    for (const fingerprint of [CLAIM.fingerprint, 'another request']) {
      it(`starts a new run if the first one ${end} (${fingerprint})`, async () => {
        const bench = await open();
        const job = await bench.begin(submission(bench));
        await reach(bench, job);
        const again = await Promise.all([send(bench, fingerprint), send(bench, fingerprint)]);
        expect(again.map(({ isReplay }) => isReplay).sort()).to.deep.equal([false, true]);
        expect(again[0].runId).to.equal(again[1].runId).and.not.to.equal(job.runId);
      });
    }
  }

  it('may be repeated after a rejection, and a replay needs no room', async () => {
    const bench = await open({ maxQueued: 1 });
    const { runs, request, begin } = bench;
    const first = await begin();
    for (const problem of await Promise.all([problemOf(send(bench)), problemOf(send(bench))])) {
      expect(problem.status).to.equal(503);
    }
    await first.succeed();
    await runs.wait(first.runId);
    expect((await send(bench)).isReplay).to.be.false;
    expect((await problemOf(runs.submit(request()))).status).to.equal(503);
    expect((await send(bench)).isReplay).to.be.true;
    expect(bench.uploadsLeft().length).to.be.at.most(1);
  });

  it('is still one run while the service is ending', async () => {
    const bench = await open();
    const job = await bench.begin(submission(bench));
    bench.startEnding();
    expect(await send(bench)).to.deep.equal({ runId: job.runId, isReplay: true });
    await job.succeed();
  });
});

describe('idempotency keys of one process', () => {
  it('are remembered up to 10,000, of which the oldest is dropped first', async () => {
    const keys = new IdempotencyKeys({ clock: () => 0, isUsable: () => Promise.resolve(true) });
    const claim = async (key: number) => {
      const once = keys.once({ key: String(key), fingerprint: '' }, () =>
        Promise.resolve({ runId: String(key), isReplay: false }),
      );
      return (await once).isReplay;
    };
    for (let key = 0; key < 10_000; key++) expect(await claim(key)).to.be.false;
    expect(await claim(0)).to.be.true;
    expect(await claim(10_000)).to.be.false;
    expect(await claim(1), 'the second').to.be.true;
    expect(await claim(0), 'the oldest').to.be.false;
  });

  it('are remembered when many others are rejected', async () => {
    const keys = new IdempotencyKeys({ clock: () => 0, isUsable: () => Promise.resolve(true) });
    const accept = () => Promise.resolve({ runId: 'a', isReplay: false });
    await keys.once(CLAIM, accept);
    for (let key = 0; key < 10_000; key++) {
      const refused = keys.once({ key: String(key), fingerprint: '' }, () => Promise.reject(new Error('full')));
      expect(await refused.catch((error: unknown) => (error as Error).message)).to.equal('full');
    }
    expect((await keys.once(CLAIM, accept)).isReplay).to.be.true;
  });
});
