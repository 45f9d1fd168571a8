import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { openTaskQueue } from '../../../src/io/queue/redis-task-queue.ts';
import type { JsonValue, Task, TaskQueue } from '../../../src/io/queue/task-queue.ts';
import { startTaskWorker } from '../../../src/io/queue/task-worker.ts';
import { openRedis, type Redis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { errorOf, until } from '../../helpers/waiting.ts';

/** The time after which a task is taken from a lost worker. */
const LOCK_MILLIS = 1000;

const PROGRAM = path.join(import.meta.dirname, 'work-until-killed.ts');

/** A worker in its own process. */
interface WorkerProcess {
  readonly child: ChildProcess;
  readonly events: { readonly type: string; readonly kind?: string; readonly id?: string; readonly name?: string }[];
}

const sleeping = (values: JsonValue): Task => ({ kind: 'sleep', values, bytes: {} });

describeWithRedis('tasks whose worker is lost @slow', (server) => {
  const children: ChildProcess[] = [];
  let tests = 0;
  let prefix = '';
  let queue: TaskQueue;
  let redis: Redis;

  async function startWorker(lockMillis = LOCK_MILLIS): Promise<WorkerProcess> {
    const args = ['--import', 'tsx', PROGRAM, server().url, prefix, String(lockMillis)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const events: WorkerProcess['events'] = [];
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      const lines = `${text}${data.toString()}`.split('\n');
      text = lines.pop() ?? '';
      events.push(...lines.map((line) => JSON.parse(line) as WorkerProcess['events'][number]));
    });
    await until(() => events.length > 0);
    return { child, events };
  }
  const started = ({ events }: WorkerProcess, times = 1): boolean =>
    events.filter(({ type }) => type === 'started').length >= times;
  const nameOf = ({ events }: WorkerProcess): string => events[0]?.name ?? '';

  beforeEach(async () => {
    prefix = `lost-${String(tests++)}`;
    redis = await openRedis(server().url);
    queue = await openTaskQueue({ redis: server().url, prefix, pollMillis: 100, retryMillis: 50 });
  });
  afterEach(async () => {
    await queue.close();
    await redis.close();
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });

  /** Starts two workers. The second one is stopped, so that the first one takes the first task. */
  async function startTwo(lockMillis?: number): Promise<[WorkerProcess, WorkerProcess]> {
    const [first, second] = await Promise.all([startWorker(lockMillis), startWorker(lockMillis)]);
    second.child.kill('SIGSTOP');
    return [first, second];
  }

  it('are taken over by another worker, and reported as started again', async () => {
    const [first, second] = await startTwo();
    let starts = 0;
    const run = queue.run(sleeping(1500), { onStart: () => starts++ });
    await until(() => started(first));
    first.child.kill('SIGKILL');
    second.child.kill('SIGCONT');
    expect((await run).values).to.equal(nameOf(second));
    expect(starts).to.equal(2);
    await until(() => second.events.length === 3);
    expect(second.events.map(({ type }) => type)).to.deep.equal(['ready', 'started', 'done']);
  });

  it('are done by one of two workers if the first only seemed to be lost; it stops when it notices', async () => {
    const [first, second] = await startTwo();
    const run = queue.run(sleeping(8000));
    await until(() => started(first));
    first.child.kill('SIGSTOP');
    second.child.kill('SIGCONT');
    await until(() => started(second));
    first.child.kill('SIGCONT');
    await until(() => first.events.some(({ type }) => type === 'lost'));
    expect((await run).values).to.equal(nameOf(second));
  });

  it('are quarantined if they end too many workers, with one clear error, until somebody allows them', async () => {
    const task: Task = { kind: 'kill', values: 1, bytes: {} };
    const run = errorOf(queue.run(task));
    const names: string[] = [];
    for (let lost = 0; lost < 2; lost++) {
      const worker = await startWorker();
      names.push(nameOf(worker));
      await once(worker.child, 'exit');
      expect(worker.child.signalCode).to.equal('SIGKILL');
    }
    const survivor = await startWorker();
    const error = await run;
    expect(error.code).to.equal('task-quarantined');
    expect(error.message).to.equal(
      "The task 'kill' ended its worker, or stopped it from answering, 2 times. It is quarantined, and not run again.",
    );
    expect(error.context).to.include({ kind: 'kill', times: 2, worker: names[1], key: `${prefix}:quarantine` });
    // It is refused at once, and the worker lives and does other tasks.
    const again = await errorOf(queue.run(task));
    expect([again.code, again.suggestion]).to.deep.equal([error.code, error.suggestion]);
    expect((await queue.run(sleeping(1))).values).to.equal(nameOf(survivor));
    // The input is still there to inspect.
    const field = String(error.context['field']);
    const record = JSON.parse(String(await redis.client.call('HGET', `${prefix}:quarantine`, field))) as {
      input: { values: string };
    };
    expect(await redis.client.call('GET', `${record.input.values}:0`)).to.equal('1');
    // The command of the suggestion.
    const [, key, own] = /redis-cli HDEL (\S+) (\S+)$/.exec(error.suggestion ?? '') ?? [];
    expect(await redis.client.call('HDEL', String(key), String(own))).to.equal(1);
    queue.run(task).catch(() => undefined);
    await once(survivor.child, 'exit');
    expect(survivor.child.signalCode).to.equal('SIGKILL');
  });

  it('are given back at once by a worker that stops, and finished within its time if they can be', async () => {
    const [first, second] = await startTwo(30_000);
    const long = queue.run(sleeping(5000));
    await until(() => started(first));
    second.child.kill('SIGCONT');
    const start = performance.now();
    first.child.kill('SIGTERM');
    const [code] = (await once(first.child, 'exit')) as [number | null];
    expect(code).to.equal(0);
    await until(() => first.events.at(-1)?.type === 'returned');
    expect((await long).values).to.equal(nameOf(second));
    // Not after the time of a lost worker.
    expect(performance.now() - start).to.be.below(20_000);
    const short = queue.run(sleeping(100));
    await until(() => started(second, 2));
    second.child.kill('SIGTERM');
    expect((await short).values).to.equal(nameOf(second));
  });

  it('are done once if Redis is killed and started again in the middle', async () => {
    const workers = [await startWorker(5000), await startWorker(5000)];
    const runs = Array.from({ length: 6 }, (_, index) => queue.run(sleeping(600 + index)));
    await until(() => workers.every((worker) => started(worker)));
    await server().kill();
    const late = queue.run(sleeping(10));
    await sleep(300);
    await server().start();
    const names = (await Promise.all([...runs, late])).map(({ values }) => values);
    expect(new Set(names)).to.deep.equal(new Set(workers.map(nameOf)));
    await until(async () => (await queue.counts()).running === 0);
    // A line of a process may arrive after the output.
    await sleep(200);
    const done = workers.flatMap(({ events }) => events.filter(({ type }) => type === 'done'));
    expect(done).to.have.length(7);
    expect(new Set(done.map(({ id }) => id)).size).to.equal(7);
    expect(await queue.counts()).to.deep.equal({ queued: 0, running: 0 });
  });

  it('are done if Redis is away for longer than the time of a lost worker', async () => {
    const worker = await startWorker();
    const run = queue.run(sleeping(2500));
    await until(() => started(worker));
    await server().kill();
    await sleep(2 * LOCK_MILLIS);
    await server().start();
    expect((await run).values).to.equal(nameOf(worker));
  });

  it('are added again by the callers that wait if Redis has lost its data', async () => {
    const worker = await startWorker();
    const runs = [0, 1, 2].map((index) => queue.run(sleeping(500 + index)));
    await until(() => started(worker));
    await redis.client.call('FLUSHALL');
    expect((await Promise.all(runs)).map(({ values }) => values)).to.deep.equal(Array(3).fill(nameOf(worker)));
  });

  it('do not keep a queue or a worker from closing while Redis is away', async () => {
    const other = await openTaskQueue({ redis: server().url, prefix });
    const worker = await startTaskWorker({
      ...{ redis: server().url, prefix, lockMillis: LOCK_MILLIS },
      handlers: { sleep: () => new Promise(() => undefined) },
    });
    const controller = new AbortController();
    let starts = 0;
    const run = errorOf(other.run(sleeping(1), { signal: controller.signal, onStart: () => starts++ }));
    await until(() => starts === 1);
    await server().kill();
    try {
      const start = performance.now();
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await run).to.equal(reason);
      await worker.close({ drainMillis: 0 });
      await worker.done;
      await other.close();
      expect(performance.now() - start).to.be.below(15_000);
    } finally {
      await server().start();
    }
  });
});
