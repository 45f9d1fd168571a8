import { existsSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { isFinal, type RunEvent, type RunRecord } from '../../../src/api/runs/runs.ts';
import { FileResultStore, ResultStore, type ResultStoreLike } from '../../../src/api/store/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { createFixture, settle } from './runs-fixture.ts';

const CAPACITY = 3;

const anyStep = fc.record({
  step: fc.constantFrom(
    'submit',
    'submit',
    'submit',
    'submit with a key',
    'submit and wait',
    'start',
    'succeed',
    'succeed with files',
    'fail',
    'fail inside',
    'remove',
    'keep',
    'get',
    'pause',
  ),
  /** Selects one of the runs so far. */
  which: fc.nat(),
});

type Steps = readonly { readonly step: string; readonly which: number }[];

/** Performs the steps concurrently, lets everything end, and checks the invariants. */
async function checkLaws(root: string, store: ResultStoreLike<RunRecord>, steps: Steps, isCut: boolean): Promise<void> {
  const fixture = createFixture(root, { store });
  const { runs, runner, request, upload } = fixture;
  runner.room = 4;
  const events = new Map<string, RunEvent[]>();
  const records = new Map<string, Promise<RunRecord>>();
  const work: Promise<unknown>[] = [];
  let kept = 0;

  const submit = async (key: string | null, isWaitedFor = false) => {
    const idempotency = key === null ? null : { key, fingerprint: key };
    try {
      const { runId, isReplay } = await runs.submit(request({ idempotency, isWaitedFor, inputFolder: upload() }));
      if (isReplay) return;
      const seen: RunEvent[] = [];
      events.set(runId, seen);
      records.set(runId, runs.wait(runId));
      await runs.follow(runId, 0, (event) => seen.push(event));
    } catch (error) {
      // The queue is full, or the service is ending.
      expect(error).to.be.instanceOf(ServiceProblem).with.property('status', 503);
    }
  };
  const jobAt = (which: number) => runner.jobs.filter(({ state }) => state !== 'ended').at(which % 4);
  const idAt = (which: number) => [...events.keys()][which % (events.size || 1)] ?? 'nobody';
  const leave = (folder: string) => (existsSync(folder) ? ['report.md'] : []);
  const act: Record<string, (which: number) => unknown> = {
    submit: () => work.push(submit(null)),
    'submit and wait': () => work.push(submit(null, true)),
    'submit with a key': (which) => work.push(submit(String(which % 3))),
    start: (which) => {
      const job = jobAt(which);
      if (job?.state === 'queued') job.start();
    },
    succeed: (which) => jobAt(which)?.succeed(),
    'succeed with files': (which) => {
      const job = jobAt(which);
      job?.succeed({ files: leave(job.options.folder) });
    },
    fail: (which) => jobAt(which)?.fail(new ServiceProblem(422, { detail: 'no' })),
    'fail inside': (which) => jobAt(which)?.fail(new Error('no')),
    remove: (which) => work.push(runs.remove(idAt(which))),
    keep: () =>
      work.push(runs.keep({ runId: `kept-${++kept}`, endpoint: '/validate', createdAt: fixture.now(), body: '{}' })),
    get: (which) => work.push(runs.get(idAt(which))),
    pause: () => settle(),
  };
  for (const { step, which } of steps) {
    fixture.pass(1);
    await act[step]?.(which);
  }
  if (isCut) {
    const closing = runs.close(1);
    await Promise.all([...records.values()]);
    // Cancelled jobs stop late.
    for (const job of runner.jobs) if (job.state !== 'ended') job.fail(new Error('stopped'));
    await closing;
  } else {
    // Requests that are being accepted still become jobs.
    const state = { isDone: false };
    const done = Promise.all(work).finally(() => (state.isDone = true));
    while (!state.isDone || runner.jobs.some((job) => job.state !== 'ended')) {
      for (const job of runner.jobs) if (job.state !== 'ended') job.succeed();
      await settle();
    }
    await done;
  }
  await Promise.all(work);
  const ended = await Promise.all(records.values());
  await runs.close(5000);

  for (const [runId, seen] of events) {
    const finals = seen.filter((event) => event.type === 'status' && isFinal(event.status));
    expect(finals, runId).to.have.length(1);
    expect(seen.at(-1)).to.equal(finals[0]);
    expect(seen.map(({ id }) => id)).to.deep.equal(seen.map((_, i) => i + 1));
    const record = ended.find((one) => one.runId === runId);
    expect(seen.at(-1)).to.have.property('status', record?.status);
    expect(record?.body === null).to.equal(record?.status !== 'succeeded');
    expect(record?.problem === null).to.equal(record?.status === 'succeeded');
    const now = await runs.get(runId);
    if (now !== undefined) expect(now).to.deep.equal(record);
  }
  const list = await runs.list();
  expect(list.length).to.be.at.most(CAPACITY);
  expect(await runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: list.length });
  const withFiles = await Promise.all(list.map(({ runId }) => runs.get(runId)));
  expect(fixture.foldersLeft()).to.deep.equal(
    withFiles.flatMap((record) => (record !== undefined && record.files.length > 0 ? [record.runId] : [])).sort(),
  );
  expect(fixture.uploadsLeft()).to.deep.equal([]);
}

describe('runs after any sequence of requests', () => {
  const root = useTemporaryFolder();
  const stores: Readonly<
    Record<string, () => Promise<{ store: ResultStoreLike<RunRecord>; close?: () => Promise<void> }>>
  > = {
    ResultStore: async () => {
      await Promise.resolve();
      return { store: new ResultStore<RunRecord>({ capacity: CAPACITY }) };
    },
    FileResultStore: async () => {
      const folder = mkdtempSync(path.join(root(), 'store-'));
      const store = await FileResultStore.open<RunRecord>(folder, { capacity: CAPACITY });
      return { store, close: () => store.close() };
    },
  };

  for (const [name, open] of Object.entries(stores)) {
    for (const isCut of [false, true]) {
      const when = isCut ? 'when the service is cut short' : 'when all have ended';
      it(`each have one end, and nothing else is left, with a ${name}, ${when}`, async function () {
        this.timeout(60_000);
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
            const { store, close } = await open();
            await checkLaws(root(), store, steps, isCut);
            await close?.();
          }),
          { seed: 20_260, numRuns: 40 },
        );
      });
    }
  }
});
