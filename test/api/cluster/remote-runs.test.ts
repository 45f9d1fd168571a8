import { setImmediate as turn } from 'node:timers/promises';

import { expect } from 'chai';

import { type Channel, createChannel } from '../../../src/api/cluster/channel.ts';
import type { Methods, RunMethods } from '../../../src/api/cluster/protocol.ts';
import { createRemoteLimiter, createRemoteRuns, serveRuns } from '../../../src/api/cluster/remote-runs.ts';
import type { RateLimiter } from '../../../src/api/context/service-context.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import type { KeptRun, RunEvent, RunRecord, Runs } from '../../../src/api/runs/runs.ts';
import { createLinePair } from './lines.ts';

const RECORD: RunRecord = {
  runId: 'r1',
  endpoint: '/validate',
  status: 'succeeded',
  createdAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:01.000Z',
  body: '{"run_id":"r1"}',
  problem: null,
  lastEventId: 3,
  files: ['data.csv'],
};

/** Runs that record their calls, and whose followers are notified by the test. */
function createFakeRuns() {
  const asked: unknown[] = [];
  const followers = new Set<(event: RunEvent) => void>();
  const waiting: AbortSignal[] = [];
  const runs: Runs = {
    keep: (run) => Promise.resolve(void asked.push(['keep', run])),
    submit: (request) => {
      asked.push(['submit', request]);
      if (request.job.kind === 'llm-eval') {
        const headers = { 'Retry-After': '5' };
        return Promise.reject(new ServiceProblem(503, { detail: 'The queue is full.', headers }));
      }
      return Promise.resolve({ runId: 'r1', isReplay: false });
    },
    wait: (runId, signal) =>
      runId === 'r1'
        ? Promise.resolve(RECORD)
        : new Promise((_, reject) => {
            if (signal === undefined) return;
            waiting.push(signal);
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          }),
    get: (runId) => Promise.resolve(runId === 'r1' ? RECORD : undefined),
    list: () => Promise.resolve([RECORD]),
    work: (job) => Promise.resolve({ body: JSON.stringify(job.kind), files: [] }),
    remove: (runId) => Promise.resolve(runId === 'r1' ? 'removed' : 'unknown'),
    follow: (runId, after, onEvent) => {
      if (runId !== 'r1') return Promise.resolve(undefined);
      onEvent({ id: after + 1, type: 'status', status: 'running' });
      followers.add(onEvent);
      return Promise.resolve(() => followers.delete(onEvent));
    },
    counts: () => Promise.resolve({ queued: 1, running: 2, kept: 3 }),
    fileOf: (runId, name) => Promise.resolve(`/primary/${runId}/${name}`),
  };
  const report = (event: RunEvent) => {
    for (const follower of followers) follower(event);
  };
  return { runs, asked, followers, waiting, tell: report };
}

function openBench(limiter: RateLimiter | null = null) {
  const pair = createLinePair();
  const fake = createFakeRuns();
  createChannel<Methods, RunMethods>(pair.right, serveRuns({ runs: fake.runs, limiter }));
  const channel: Channel<RunMethods> = createChannel<RunMethods, Methods>(pair.left, {});
  return { ...pair, ...fake, channel, remote: createRemoteRuns(channel) };
}

async function turns(count = 5): Promise<void> {
  for (let index = 0; index < count; index++) await turn();
}

describe('createRemoteRuns', () => {
  it('forwards calls and answers', async () => {
    const { remote, asked } = openBench();
    const kept = { runId: 'r1', endpoint: '/validate', createdAt: 'now', body: '{}' } as const;
    const request = {
      endpoint: '/validate',
      job: { kind: 'validate-rows', path: '/tmp/x', maxItems: 5 },
      inputFolder: '/tmp',
      idempotency: { key: 'k', fingerprint: 'f' },
    } as const;
    await remote.keep(kept);
    expect(await remote.submit(request)).to.deep.equal({ runId: 'r1', isReplay: false });
    expect(asked).to.deep.equal([
      ['keep', kept],
      ['submit', request],
    ]);
    expect(await remote.get('r1')).to.deep.equal(RECORD);
    expect(await remote.get('r2')).to.equal(undefined);
    expect(await remote.wait('r1')).to.deep.equal(RECORD);
    expect(await remote.list()).to.deep.equal([RECORD]);
    expect(await remote.remove('r1')).to.equal('removed');
    expect(await remote.remove('r2')).to.equal('unknown');
    expect(await remote.counts()).to.deep.equal({ queued: 1, running: 2, kept: 3 });
    expect(await remote.fileOf('r1', 'data.csv')).to.equal('/primary/r1/data.csv');
  });

  it('rejects with the problem of the owner', async () => {
    const { remote } = openBench();
    const job = { kind: 'llm-eval', body: '{}', llmFolder: null } as const;
    const refusal = remote.submit({ endpoint: '/llm-eval', job, inputFolder: null, idempotency: null });
    const problem = await refusal.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(problem).to.be.instanceOf(ServiceProblem);
    expect((problem as ServiceProblem).headers).to.deep.equal({ 'Retry-After': '5' });
  });

  it('waits until the signal of the caller is aborted', async () => {
    const { remote, waiting } = openBench();
    const controller = new AbortController();
    const result = remote.wait('r2', controller.signal).catch((reason: unknown) => reason);
    await turns();
    controller.abort('gone');
    expect(await result).to.equal('gone');
    await turns();
    expect(waiting.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('sends past events to followers first, until they unfollow', async () => {
    const { remote, followers, tell: report } = openBench();
    const events: RunEvent[] = [];
    const unfollow = await remote.follow('r1', 4, (event) => events.push(event));
    report({ id: 6, type: 'progress', stage: 'x', done: 1, total: 2 });
    await turns();
    expect(events).to.deep.equal([
      { id: 5, type: 'status', status: 'running' },
      { id: 6, type: 'progress', stage: 'x', done: 1, total: 2 },
    ]);
    unfollow?.();
    await turns();
    expect(followers.size).to.equal(0);
  });

  it('has no followers for unknown runs', async () => {
    const { remote } = openBench();
    expect(await remote.follow('r2', 0, () => undefined)).to.equal(undefined);
  });

  it('drops waiters and followers of a process that has ended', async () => {
    const { remote, followers, waiting, close } = openBench();
    const waited = remote.wait('r2').catch((error: unknown) => error);
    await remote.follow('r1', 0, () => undefined);
    expect(followers.size).to.equal(1);
    close();
    expect(followers.size).to.equal(0);
    expect(waiting.map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect(((await waited) as ServiceProblem).status).to.equal(503);
  });

  it('counts requests of all processes with one limiter', async () => {
    const allowance = { isAllowed: true, limit: 5, remaining: 4, resetSeconds: 60 };
    const clients: string[] = [];
    const { channel } = openBench({
      take: (client) => {
        clients.push(client);
        return Promise.resolve(allowance);
      },
    });
    expect(await createRemoteLimiter(channel).take('me')).to.deep.equal(allowance);
    expect(clients).to.deep.equal(['me']);
  });
});

describe('createRemoteRuns, keeping runs', () => {
  const runOf = (runId: string): KeptRun => ({ runId, endpoint: '/validate', createdAt: RECORD.createdAt, body: '{}' });

  /** A store of runs that the test completes, with the messages that were sent to it. */
  function openStore(store: (run: KeptRun) => Promise<void>) {
    const pair = createLinePair();
    const calls: string[][] = [];
    const handlers = serveRuns({ runs: { ...createFakeRuns().runs, keep: store }, limiter: null });
    createChannel<Methods, RunMethods>(pair.right, {
      ...handlers,
      keep: (all, call) => {
        calls.push(all.map(({ runId }) => runId));
        return handlers.keep(all, call);
      },
    });
    return { ...pair, calls, remote: createRemoteRuns(createChannel<RunMethods, Methods>(pair.left, {})) };
  }

  it('sends the runs of some milliseconds after a message together, and resolves each when it is stored', async () => {
    const releases: (() => void)[] = [];
    const { remote, calls } = openStore(() => new Promise((resolve) => releases.push(resolve)));
    const stored: string[] = [];
    const keep = (id: string): Promise<void> => remote.keep(runOf(id)).then(() => void stored.push(id));
    const first = keep('a');
    while (calls.length === 0) await turns();
    const all = [first, keep('b'), keep('c')];
    expect(calls).to.deep.equal([['a']]);
    while (releases.length < 3) await turns();
    expect(calls).to.deep.equal([['a'], ['b', 'c']]);
    expect(stored).to.deep.equal([]);
    releases.shift()?.();
    while (stored.length === 0) await turns();
    await turns();
    expect(stored).to.deep.equal(['a']);
    releases.splice(0).forEach((release) => {
      release();
    });
    await Promise.all(all);
    expect(stored).to.deep.equal(['a', 'b', 'c']);
  });

  it('does not let many runs wait for one that the store does not finish', async () => {
    const { remote, calls } = openStore(({ runId }) =>
      runId === 'r0' ? new Promise(() => undefined) : Promise.resolve(),
    );
    void remote.keep(runOf('r0'));
    await turns();
    await Promise.all(Array.from({ length: 16 }, (_, index) => remote.keep(runOf(`r${String(index + 1)}`))));
    expect(calls.map(({ length }) => length)).to.deep.equal([1, 16]);
  });

  it('sends the runs of one turn together', async () => {
    const { remote, calls } = openStore(() => Promise.resolve());
    await Promise.all(['a', 'b', 'c'].map((id) => remote.keep(runOf(id))));
    expect(calls).to.deep.equal([['a', 'b', 'c']]);
  });

  it('rejects only the run that the store rejects, with its problem', async () => {
    const headers = { 'Retry-After': '5' };
    const { remote } = openStore(({ runId }) =>
      runId === 'full'
        ? Promise.reject(new ServiceProblem(503, { detail: 'The disk is full.', headers }))
        : runId === 'broken'
          ? Promise.reject(new TypeError('no store'))
          : Promise.resolve(),
    );
    const outcomes = await Promise.allSettled(['a', 'full', 'b', 'broken', 'c'].map((id) => remote.keep(runOf(id))));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']); // prettier-ignore
    const [problem, failure] = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    expect(problem).to.be.instanceOf(ServiceProblem).and.include({ status: 503 });
    expect((problem as ServiceProblem).headers).to.deep.equal(headers);
    expect(failure?.message).to.match(/no store/);
  });
});
