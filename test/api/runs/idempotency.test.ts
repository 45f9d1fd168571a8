import { expect } from 'chai';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { IdempotencyKeys } from '../../../src/api/runs/local-runs.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { ResultStore } from '../../../src/api/store/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { createFixture, type Fixture } from './runs-fixture.ts';

const DAY_MILLIS = 86_400_000;

const CLAIM = { key: 'client/key', fingerprint: 'this request' };

describe('a request with an idempotency key', () => {
  const root = useTemporaryFolder();
  const create = () => createFixture(root(), { store: new ResultStore<RunRecord>({ capacity: 3 }) });
  const send = ({ runs, request, upload }: Fixture, fingerprint = CLAIM.fingerprint) =>
    runs.submit(request({ idempotency: { ...CLAIM, fingerprint }, inputFolder: upload() }));
  const problemOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ServiceProblem);
    return error as ServiceProblem;
  };

  it('is one run if it is sent several times at once', async () => {
    const fixture = create();
    const sent = await Promise.all(Array.from({ length: 8 }, () => send(fixture)));
    expect(new Set(sent.map(({ runId }) => runId)).size).to.equal(1);
    expect(sent.filter(({ isReplay }) => !isReplay)).to.have.length(1);
    expect(fixture.runner.jobs).to.have.length(1);
    expect(fixture.uploadsLeft()).to.have.length(1);
    expect(fixture.foldersLeft()).to.have.length(1);
  });

  it('is two runs with different keys, or without keys', async () => {
    const { runs, request, runner } = create();
    await Promise.all([
      runs.submit(request({ idempotency: { ...CLAIM, key: 'client/one' } })),
      runs.submit(request({ idempotency: { ...CLAIM, key: 'client/two' } })),
      runs.submit(request()),
      runs.submit(request()),
    ]);
    expect(runner.jobs).to.have.length(4);
  });

  const states: Readonly<Record<string, (fixture: Fixture, runId: string) => Promise<unknown>>> = {
    queued: () => Promise.resolve(),
    running: ({ runner }, runId) => {
      runner.of(runId).start();
      return Promise.resolve();
    },
    succeeded: ({ runner, runs }, runId) => {
      runner.of(runId).succeed();
      return runs.wait(runId);
    },
    'failed with 422': ({ runner, runs }, runId) => {
      runner.of(runId).fail(new ServiceProblem(422, { detail: 'no' }));
      return runs.wait(runId);
    },
  };
  for (const [state, reach] of Object.entries(states)) {
    it(`returns the same run while it is ${state}, and 422 for another request with its key`, async () => {
      const fixture = create();
      const { runId, isReplay } = await send(fixture);
      expect(isReplay).to.be.false;
      await reach(fixture, runId);
      const left = fixture.uploadsLeft();
      fixture.pass(DAY_MILLIS - 1);
      expect(await send(fixture)).to.deep.equal({ runId, isReplay: true });
      expect((await problemOf(send(fixture, 'another request'))).status).to.equal(422);
      expect(fixture.uploadsLeft()).to.deep.equal(left);
      expect(fixture.runner.jobs).to.have.length(1);
    });
  }

  const ends: Readonly<Record<string, (fixture: Fixture, runId: string) => Promise<unknown>>> = {
    'was cancelled': ({ runs }, runId) => runs.remove(runId),
    'was removed': async ({ runs, runner }, runId) => {
      runner.of(runId).succeed();
      await runs.wait(runId);
      await runs.remove(runId);
    },
    'failed with 502': ({ runner, runs }, runId) => {
      runner.of(runId).fail(new ServiceProblem(502, { detail: 'no' }));
      return runs.wait(runId);
    },
    'failed by an internal error': ({ runner, runs }, runId) => {
      runner.of(runId).fail(new Error('no'));
      return runs.wait(runId);
    },
    'was dropped by the store': async ({ runner, runs, now }, runId) => {
      runner.of(runId).succeed();
      await runs.wait(runId);
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
        const fixture = create();
        const { runId } = await send(fixture);
        await reach(fixture, runId);
        const again = await Promise.all([send(fixture, fingerprint), send(fixture, fingerprint)]);
        expect(again.map(({ isReplay }) => isReplay).sort()).to.deep.equal([false, true]);
        expect(again[0].runId).to.equal(again[1].runId).and.not.to.equal(runId);
      });
    }
  }

  it('may be repeated after a rejection, which all concurrent senders get', async () => {
    const fixture = create();
    fixture.runner.room = 0;
    for (const problem of await Promise.all([problemOf(send(fixture)), problemOf(send(fixture))])) {
      expect(problem.status).to.equal(503);
    }
    fixture.runner.room = 1;
    expect((await send(fixture)).isReplay).to.be.false;
    expect((await send(fixture)).isReplay, 'a replay needs no room').to.be.true;
    expect(fixture.uploadsLeft()).to.have.length(1);
  });

  it('is still one run while the service is ending', async () => {
    const fixture = create();
    const { runId } = await send(fixture);
    const closing = fixture.runs.close(10_000);
    expect(await send(fixture)).to.deep.equal({ runId, isReplay: true });
    fixture.runner.of(runId).succeed();
    await closing;
  });

  it('is remembered among 10,000, of which the oldest is dropped first', async () => {
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

  it('is remembered when many others are rejected', async () => {
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
