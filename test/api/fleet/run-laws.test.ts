import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';
import fc from 'fast-check';

import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { isFinal, type RunEvent, type RunRecord } from '../../../src/api/runs/runs.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { until } from '../../helpers/waiting.ts';
import { requestsIn } from '../runs/runs-bench.ts';
import { settle } from '../runs/runs-fixture.ts';
import { type Host, openHost } from './redis-fixture.ts';

const CAPACITY = 4;

const STEPS = ['submit', 'submit', 'submit with a key', 'submit and wait', 'succeed', 'succeed with files', 'fail', 'fail inside', 'progress', 'remove', 'keep', 'get', 'rival', 'rival', 'pause'] as const; // prettier-ignore

const anyStep = fc.record({ step: fc.constantFrom(...STEPS), which: fc.nat(), host: fc.nat({ max: 1 }) });

type Steps = readonly { readonly step: (typeof STEPS)[number]; readonly which: number; readonly host: number }[];

/** Performs the steps on two hosts at once, lets everything end, and checks the invariants. */
async function checkLaws(hosts: readonly [Host, Host], inputs: string, steps: Steps): Promise<void> {
  const [first] = hosts;
  const { runner, queue } = first;
  const { request, upload, uploadsLeft } = requestsIn(inputs);
  const events = new Map<string, RunEvent[]>();
  const records = new Map<string, Promise<RunRecord | undefined>>();
  const removed = new Set<string>();
  const work: Promise<unknown>[] = [];
  let kept = 0;
  const submit = async ({ runs }: Host, key: string | null, isWaitedFor: boolean, other: Host) => {
    const idempotency = key === null ? null : { key, fingerprint: key };
    try {
      const { runId, isReplay } = await runs.submit(request({ idempotency, isWaitedFor, inputFolder: upload() }));
      if (isReplay) return;
      const seen: RunEvent[] = [];
      events.set(runId, seen);
      // The other host waits for the end, and follows the events.
      const record = other.runs.wait(runId).catch((error: unknown) => {
        // Another client removed the run just after its end.
        expect(error).to.be.instanceOf(ServiceProblem).with.property('status', 404);
        expect(removed.has(runId)).to.equal(true);
        return undefined;
      });
      records.set(runId, record);
      await other.runs.follow(runId, 0, (event) => seen.push(event));
    } catch (error) {
      expect(error).to.be.instanceOf(ServiceProblem).with.property('status', 503);
    }
  };
  const jobAt = (which: number) => runner.jobs.filter(({ state }) => state !== 'ended').at(which % 4);
  const idAt = (which: number) => [...events.keys()][which % (events.size || 1)] ?? 'nobody';
  const succeed = (which: number, name?: string) => {
    const job = jobAt(which);
    if (job === undefined) return;
    const files = name !== undefined && existsSync(job.options.folder) ? [name] : [];
    for (const file of files) writeFileSync(path.join(job.options.folder, file), `${file} of ${String(which)}`);
    job.succeed({ body: '{}', files });
  };
  for (const { step, which, host } of steps) {
    const [own, other] = host === 0 ? hosts : ([hosts[1], first] as const);
    const acts: Record<(typeof STEPS)[number], () => unknown> = {
      submit: () => work.push(submit(own, null, false, other)),
      'submit and wait': () => work.push(submit(own, null, true, other)),
      'submit with a key': () => work.push(submit(own, String(which % 3), false, other)),
      succeed: () => {
        succeed(which);
      },
      'succeed with files': () => {
        succeed(which, 'report.md');
      },
      fail: () => jobAt(which)?.fail(new ServiceProblem(422, { detail: 'no' })),
      'fail inside': () => jobAt(which)?.fail(new Error('no')),
      progress: () => jobAt(which)?.options.onProgress({ stage: 'rows', done: which, total: which + 1 }),
      remove: () => {
        removed.add(idAt(which));
        work.push(own.runs.remove(idAt(which)));
      },
      keep: () => {
        const run = { runId: `kept-${String(++kept)}`, endpoint: '/validate', body: '{}' } as const;
        work.push(own.runs.keep({ ...run, createdAt: new Date().toISOString() }));
      },
      get: () => work.push(own.runs.get(idAt(which))),
      rival: () => work.push(own.rival(idAt(which))),
      pause: () => settle(),
    };
    await acts[step]();
    // Half of the steps are at once with the next one.
    if (which % 2 === 0) await pause(12);
  }
  const state = { isDone: false };
  const done = Promise.all(work).then(() => Promise.all(records.values()));
  const ended = done.finally(() => (state.isDone = true));
  await until(() => {
    for (const job of runner.jobs) if (job.state !== 'ended') job.succeed();
    return state.isDone;
  });
  await ended;
  await until(() => [...queue.tasks.values()].every((task) => task.state === 'ended'));
  await until(() => first.workLeft().length === 0);
  await until(() => [...events.values()].every((seen) => seen.some((event) => event.type === 'status' && isFinal(event.status)))); // prettier-ignore

  for (const [runId, seen] of events) {
    const finals = seen.filter((event) => event.type === 'status' && isFinal(event.status));
    expect(finals, runId).to.have.length(1);
    expect(seen.at(-1)).to.equal(finals[0]);
    expect(seen.map(({ id }) => id)).to.deep.equal(seen.map((_, i) => i + 1));
    const [one, other] = await Promise.all(hosts.map(({ runs }) => runs.get(runId)));
    expect(one).to.deep.equal(other);
    const record = await records.get(runId);
    if (record === undefined) {
      expect(one).to.equal(undefined);
      continue;
    }
    expect(seen.at(-1)).to.have.property('status', record.status);
    expect(record.lastEventId).to.equal(seen.length);
    expect(record.body === null).to.equal(record.status !== 'succeeded');
    expect(record.problem === null).to.equal(record.status === 'succeeded');
    if (one !== undefined) expect(one).to.deep.equal(record);
  }
  const [list, same] = await Promise.all(hosts.map(({ runs }) => runs.list()));
  expect(list).to.deep.equal(same);
  expect(list?.length).to.be.at.most(CAPACITY);
  expect(await first.runs.counts()).to.deep.equal({ queued: 0, running: 0, kept: list?.length });
  const withFiles = await Promise.all((list ?? []).map(({ runId }) => first.runs.get(runId)));
  const blobs = await first.keys('run:*:blobs');
  expect(blobs).to.deep.equal(
    withFiles.flatMap((run) => (run !== undefined && run.files.length > 0 ? [`run:${run.runId}:blobs`] : [])).sort(),
  );
  expect(uploadsLeft()).to.deep.equal([]);
}

describeWithRedis('runs after any sequence of requests to two hosts', (redis) => {
  const root = useTemporaryFolder();

  it('each have one end, which both hosts report, and nothing else is left', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
        const prefix = `test-${randomUUID()}`;
        const common = { url: redis().url, root: root(), prefix, limits: { maxRuns: CAPACITY, maxQueued: 6 } };
        const first = await openHost(common);
        first.queue.isAutomatic = true;
        const second = await openHost({ ...common, queue: first.queue });
        try {
          await checkLaws([first, second], mkdtempSync(path.join(root(), 'in-')), steps);
        } finally {
          await Promise.all([first.close(), second.close()]);
        }
      }),
      { seed: 20_260, numRuns: 25, endOnFailure: true, includeErrorInReport: true },
    );
  });
});
