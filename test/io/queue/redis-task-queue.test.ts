import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { openTaskQueue } from '../../../src/io/queue/redis-task-queue.ts';
import type { JsonValue, Task, TaskQueue } from '../../../src/io/queue/task-queue.ts';
import { startTaskWorker, type StartTaskWorkerOptions } from '../../../src/io/queue/task-worker.ts';
import { openRedis, type Redis } from '../../../src/io/redis/open-redis.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { errorOf, until } from '../../helpers/waiting.ts';

const sleeping = (values: JsonValue): Task => ({ kind: 'sleep', values, bytes: {} });

describeWithRedis('a queue on Redis', (server) => {
  const warnings = useLoggedWarnings();
  let tests = 0;
  let prefix = '';
  let redis: Redis;
  const closes: (() => Promise<void>)[] = [];
  const open = async (options: object = {}): Promise<TaskQueue> => {
    const queue = await openTaskQueue({ redis: server().url, prefix, pollMillis: 50, retryMillis: 20, ...options });
    closes.unshift(() => queue.close());
    return queue;
  };
  const work = async (options: Omit<StartTaskWorkerOptions, 'redis'>): Promise<void> => {
    const worker = await startTaskWorker({ redis: server().url, prefix, pollMillis: 50, lockMillis: 2000, ...options });
    closes.unshift(() => worker.close({ drainMillis: 100 }));
  };
  const keys = async (pattern: string): Promise<string[]> =>
    (await redis.client.call('KEYS', `${prefix}:${pattern}`)) as string[];

  beforeEach(async () => {
    prefix = `queue-${String(tests++)}`;
    redis = await openRedis(server().url);
  });
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
    await redis.close();
  });

  it('sees outputs and cancellations also if their messages are lost', async () => {
    const queue = await open();
    let stops = 0;
    await work({
      handlers: {
        sleep: async ({ values }, { signal }) => {
          signal.addEventListener('abort', () => stops++);
          await sleep(values as number, undefined, { signal });
          return { values: 'slept', bytes: {} };
        },
      },
    });
    const first = queue.run(sleeping(60_000), { id: 'one' });
    await until(async () => (await queue.counts()).running === 1);
    // Another worker has stored an output, but nobody hears of it.
    const { values } = await queue.run(sleeping(1), { id: 'other' });
    const [output = ''] = await keys('output:*/other');
    const stored = String(await redis.client.call('GET', output));
    await redis.client.call('SET', output.replace(/other$/, 'one'), stored, 'EX', 60);
    expect((await first).values).to.equal(values);
    await redis.client.call('SET', output.replace(':output:', ':cancel:').replace(/other$/, 'one'), '1', 'EX', 60);
    await until(() => stops === 1);
    await until(async () => (await queue.counts()).running === 0);
  });

  it('sends and stores bytes once that several tasks share, and a worker reads them once', async () => {
    const size = 9_000_000;
    const matrix = new Uint8Array(size).map((_, index) => (index * 2654435761) >>> 13);
    const queue = await open();
    await work({
      handlers: { sum: ({ bytes }) => Promise.resolve({ values: bytes['matrix']?.length ?? 0, bytes: {} }) },
    });
    const traffic = async (): Promise<number[]> => {
      const info = String(await redis.client.call('INFO', 'stats'));
      return ['input', 'output'].map((way) => Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(info)?.[1]));
    };
    const before = await traffic();
    const tasks = Array.from({ length: 6 }, (_, index) => ({ kind: 'sum', values: index, bytes: { matrix } }));
    const outputs = await Promise.all(tasks.map((task) => queue.run(task)));
    const bytes = (await traffic()).map((after, way) => after - (before[way] ?? 0));
    expect(outputs.map(({ values }) => values)).to.deep.equal(Array(6).fill(size));
    for (const one of bytes) expect(one).to.be.within(size, 1.1 * size);
    // The matrix in 3 parts, 6 inputs, one output that all tasks share; each with a key for its length.
    expect(await keys('blob:*')).to.have.length(4 + 2 * 6 + 2);
  });

  it('does a task again whose output Redis has evicted, and reports an input that has expired', async () => {
    const queue = await open();
    let calls = 0;
    const task: Task = { kind: 'count', values: 1, bytes: { x: new Uint8Array(10) } };
    const handlers = { count: () => Promise.resolve({ values: ++calls, bytes: {} }) };
    const pending = errorOf(queue.run({ ...task, values: 'lost' }));
    await until(async () => (await queue.counts()).queued === 1);
    for (const key of await keys('blob:*')) await redis.client.call('DEL', key);
    await work({ handlers });
    const error = await pending;
    expect([error.name, error.code, error.context['reason']]).to.deep.equal([
      'DataValidationError',
      'engine-failed',
      'lost',
    ]);
    expect((await queue.run(task)).values).to.equal(1);
    expect((await queue.run(task)).values).to.equal(1);
    for (const key of await keys('blob:*')) await redis.client.call('DEL', key);
    expect((await queue.run(task)).values).to.equal(2);
  });

  it('keeps inputs and outputs for the given time, and everything else not for longer', async () => {
    const queue = await open({ keepSeconds: 100 });
    await work({ keepSeconds: 100, handlers: { count: () => Promise.resolve({ values: 'counted', bytes: {} }) } });
    await queue.run({ kind: 'count', values: 1, bytes: {} });
    await until(async () => (await keys('callers:*')).length === 0);
    const all = await keys('*');
    const ours = all.filter((key) => /:(blob|output|worker):/.test(key));
    expect(ours).to.have.length(6);
    for (const key of ours) expect(Number(await redis.client.call('TTL', key)), key).to.be.within(90, 100);
    const others = all.filter((key) => !ours.includes(key));
    const known = /^[\w-]+:(queues|workers:count@[\d.]+|count@[\d.]+:(id|meta|events|stalled-check|marker))$/;
    for (const key of others) expect(key).to.match(known);
  });

  it('does not leave a caller alone if Redis rejects commands', async () => {
    const queue = await open();
    await redis.client.call('CONFIG', 'SET', 'maxmemory', '1mb');
    try {
      const error = await errorOf(queue.run({ kind: 'count', values: 1, bytes: { x: new Uint8Array(10) } }));
      expect([error.name, error.code, error.context['reason']]).to.deep.equal([
        'DataValidationError',
        'engine-failed',
        'full',
      ]);
      expect(error.message).to.match(/^Redis at 127\.0\.0\.1:\d+ failed: OOM command not allowed/);
    } finally {
      await redis.client.call('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  it('does not keep the process running after it is closed, nor do threads of a handler', async () => {
    const program = path.join(import.meta.dirname, 'sweep-and-close.ts');
    const start = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program, server().url, prefix], {
      timeout: 50_000,
    });
    expect(stdout).to.equal('1 point, closed\n');
    // Threads without work stay for a minute, but do not keep the process running.
    expect(performance.now() - start).to.be.below(30_000);
  });

  it('warns if no worker takes a task, but not if all are busy @slow', async () => {
    const queue = await open();
    const controller = new AbortController();
    const { signal } = controller;
    const gate = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error('over'));
      });
    });
    await work({ handlers: { busy: () => gate }, concurrency: 1 });
    const runs = [1, 2].map((values) => errorOf(queue.run({ kind: 'busy', values, bytes: {} }, { signal })));
    runs.push(errorOf(queue.run({ kind: 'idle', values: 1, bytes: {} }, { signal })));
    await until(() => warnings().length > 0);
    await sleep(2000);
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.match(/^No worker takes 'idle' tasks from Redis at .*evenhand worker --redis URL$/);
    controller.abort();
    await Promise.all(runs);
  });

  it('warns if Redis may remove tasks', async () => {
    await redis.client.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await open();
      expect(warnings().join()).to.match(/may remove tasks and outputs.*noeviction/);
    } finally {
      await redis.client.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    }
  });
});
