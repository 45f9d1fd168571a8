import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  FairnessAssertionError,
  FairnessToolkitError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from '../../src/exceptions/index.ts';
import { createDeferred } from '../../src/internal/deferred.ts';
import { localTaskQueue } from '../../src/io/queue/local-task-queue.ts';
import { openTaskQueue } from '../../src/io/queue/redis-task-queue.ts';
import type { JsonValue, Task, TaskData, TaskHandler, TaskQueue } from '../../src/io/queue/task-queue.ts';
import { startTaskWorker } from '../../src/io/queue/task-worker.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { errorOf, until } from '../helpers/waiting.ts';

/** A queue, and what ends it. */
interface OpenedQueue {
  readonly queue: TaskQueue;
  readonly close: () => Promise<void>;
}

type OpenQueue = (handlers: Readonly<Record<string, TaskHandler>>, concurrency: number) => Promise<OpenedQueue>;

const taskOf = (values: JsonValue, bytes: TaskData['bytes'] = {}): Task => ({ kind: 'work', values, bytes });
const answer = (values: JsonValue, bytes: TaskData['bytes'] = {}): TaskData => ({ values, bytes });

const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });

function suite(openQueue: OpenQueue): void {
  const opened: OpenedQueue[] = [];
  const open = async (handler: TaskHandler, concurrency = 2): Promise<TaskQueue> => {
    const one = await openQueue({ work: handler, other: handler }, concurrency);
    opened.push(one);
    return one.queue;
  };
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close();
  });

  it('returns the output of the handler: values and bytes as they were', async () => {
    const queue = await open(({ values, bytes }) => Promise.resolve({ values: { echo: values }, bytes }));
    const values = {
      numbers: [0, -0, 1.5, 1e-300, -1e21, 0.1 + 0.2, Number.MAX_SAFE_INTEGER],
      texts: ['', 'é\u0000\ud800"\\', '日本'],
      nested: { a: [null, true, { b: [] }], __proto: {}, '': false },
    };
    const bytes = { none: new Uint8Array(0), large: randomBytes(9_000_000), 'a name: é': Uint8Array.of(0, 255, 10) };
    const output = await queue.run(taskOf(values, bytes));
    expect(output.values).to.deep.equal({ echo: values });
    expect(Object.keys(output.bytes).sort()).to.deep.equal(Object.keys(bytes).sort());
    for (const [name, own] of Object.entries(bytes))
      expect(Buffer.compare(output.bytes[name] ?? randomBytes(1), own), name).to.equal(0);
  });

  it('does equal tasks once, at the same time and later, whatever the order of their properties', async () => {
    let calls = 0;
    const queue = await open(async () => {
      const call = ++calls;
      await sleep(50);
      return answer(call);
    });
    const bytes = { x: randomBytes(100) };
    const [first, second] = await Promise.all([
      queue.run(taskOf({ a: 1, b: [2] }, bytes)),
      queue.run(taskOf({ b: [2], a: 1 }, { x: new Uint8Array(bytes.x) })),
    ]);
    const third = await queue.run(taskOf({ a: 1, b: [2] }, bytes));
    expect([first.values, second.values, third.values, calls]).to.deep.equal([1, 1, 1, 1]);
  });

  it('does tasks that differ in kind, values, bytes or identifier separately', async () => {
    const seen = new Set<string>();
    let calls = 0;
    const queue = await open(({ kind, values, bytes }) => {
      seen.add(JSON.stringify([kind, values, Object.entries(bytes).map(([name, own]) => [name, [...own]])]));
      return Promise.resolve(answer(++calls));
    });
    const one = Uint8Array.of(1);
    const tasks: Task[] = [
      taskOf([1]), taskOf([1, 0]), taskOf(['1']), taskOf({}), taskOf([1], { x: one }), taskOf([1], { y: one }),
      taskOf([1], { x: Uint8Array.of(2) }), taskOf([1], { x: one, y: one }), { ...taskOf([1]), kind: 'other' },
    ]; // prettier-ignore
    const outputs = await Promise.all(tasks.map((task) => queue.run(task)));
    expect(new Set(outputs.map(({ values }) => values)).size).to.equal(tasks.length);
    expect(seen.size).to.equal(tasks.length);
    const named = await Promise.all(['a', 'b', 'a', '12'].map((id) => queue.run(taskOf([1]), { id })));
    expect(named[0]?.values).to.equal(named[2]?.values);
    expect(calls).to.equal(tasks.length + 3);
  });

  it('reports the start once and the progress in order, up to the last', async () => {
    const queue = await open(async (_, { onProgress }) => {
      for (let done = 1; done <= 50; done++) onProgress({ stage: 'counting', done, total: 50 });
      await sleep(20);
      return answer(null);
    });
    const events: (string | number)[] = [];
    await queue.run(taskOf(1), {
      onStart: () => events.push('start'),
      onProgress: ({ stage, done, total }) => events.push(stage, total, done),
    });
    expect(events.slice(0, 4)).to.deep.equal(['start', 'counting', 50, 1]);
    expect(events.at(-1)).to.equal(50);
    const done = events.filter((_, index) => index % 3 === 0).slice(1);
    expect(done).to.deep.equal([...done].sort((a, b) => Number(a) - Number(b)));
    expect(events.filter((event) => event === 'start')).to.have.length(1);
  });

  it('throws errors of the package with their class, code, context, suggestion and cause, and does not try again', async () => {
    const details = {
      context: { parameter: 'lr', received: -1, expected: ['above 0'] },
      suggestion: 'Raise it.',
      cause: new TypeError('deep', { cause: new ValueError('deeper') }),
    } as const;
    const errors = [
      new FairnessToolkitError('base', details),
      new DataValidationError('data', { ...details, code: 'too-few-rows' }),
      new FairnessAssertionError('gate', { ...details, actual: 0.3, expected: 0.1, operator: '<=' }),
      ...[CacheMissError, ConfigValidationError, DependencyError, LLMClientError, MetricComputationError].map(
        (Class) => new Class('one', details),
      ),
      ...[PipelineExecutionError, TrainingError, ValueError].map((Class) => new Class('two', details)),
    ];
    let calls = 0;
    const queue = await open(({ values }) => {
      calls++;
      throw errors[Number(values)] as Error;
    });
    for (const [index, error] of errors.entries()) {
      const got = await errorOf(queue.run(taskOf(index)));
      expect(got.constructor, error.name).to.equal(error.constructor);
      for (const field of ['name', 'message', 'code', 'context', 'suggestion'] as const)
        expect(got[field], field).to.deep.equal(error[field]);
      expect(FairnessToolkitError.isInstance(got)).to.equal(true);
      if (got instanceof FairnessAssertionError) {
        // Node's AssertionError has no cause.
        expect([got.actual, got.expected, got.operator]).to.deep.equal([0.3, 0.1, '<=']);
        continue;
      }
      const cause = got.cause as Error;
      expect([cause.name, cause.message]).to.deep.equal(['TypeError', 'deep']);
      expect((cause.cause as Error).constructor).to.equal(ValueError);
    }
    expect(calls).to.equal(errors.length);
  });

  it('throws the error to all callers of a task, and tries again if it is asked again', async () => {
    let calls = 0;
    const queue = await open(async () => {
      await sleep(50);
      if (++calls === 1) throw new TrainingError('diverged');
      return answer(calls);
    });
    const both = await Promise.all([errorOf(queue.run(taskOf(1))), errorOf(queue.run(taskOf(1)))]);
    expect(both.map(({ message }) => message)).to.deep.equal(['diverged', 'diverged']);
    expect((await queue.run(taskOf(1))).values).to.equal(2);
  });

  it('tries other errors three times', async () => {
    const calls: Record<string, number> = {};
    const queue = await open(({ values }) => {
      const name = values as string;
      calls[name] = (calls[name] ?? 0) + 1;
      if (name === 'twice' && calls[name] === 3) return Promise.resolve(answer('good'));
      throw new TypeError(`bad ${name}`);
    });
    expect((await queue.run(taskOf('twice'))).values).to.equal('good');
    const error = await errorOf(queue.run(taskOf('always')));
    expect(calls).to.deep.equal({ twice: 3, always: 3 });
    expect(error.constructor).to.equal(FairnessToolkitError);
    expect(error.code).to.equal('task-failed');
    expect(error.message).to.equal("The task 'work' was tried 3 times and failed: TypeError: bad always");
    expect((error.cause as Error).message).to.equal('bad always');
  });

  it('does not start a cancelled task that waits', async () => {
    const gate = createDeferred<undefined>();
    const started: JsonValue[] = [];
    const queue = await open(async ({ values }) => {
      started.push(values);
      await gate.promise;
      return answer(values);
    }, 1);
    const first = queue.run(taskOf('first'));
    await until(() => started.length === 1);
    const controller = new AbortController();
    const second = errorOf(queue.run(taskOf('second'), { signal: controller.signal }));
    const third = queue.run(taskOf('third'));
    await until(async () => (await queue.counts()).queued === 2);
    expect(await queue.counts()).to.deep.equal({ queued: 2, running: 1 });
    const reason = new Error('not needed');
    controller.abort(reason);
    expect(await second).to.equal(reason);
    await until(async () => (await queue.counts()).queued === 1);
    gate.resolve(undefined);
    expect([(await first).values, (await third).values, started]).to.deep.equal(['first', 'third', ['first', 'third']]);
    await until(async () => (await queue.counts()).running === 0);
    expect(await errorOf(queue.run(taskOf('x'), { signal: AbortSignal.abort(reason) }))).to.equal(reason);
  });

  it('asks a running task to stop when it is cancelled; it can be started again', async () => {
    const stopped: string[] = [];
    let calls = 0;
    const queue = await open(async (_, { signal }) => {
      if (++calls > 1) return answer('again');
      return untilStopped(signal).catch((error: unknown) => {
        stopped.push((error as Error).name);
        throw error;
      });
    });
    const controller = new AbortController();
    const run = errorOf(queue.run(taskOf(1), { signal: controller.signal }));
    await until(() => calls === 1);
    controller.abort();
    expect((await run).name).to.equal('AbortError');
    await until(() => stopped.length === 1);
    expect((await queue.run(taskOf(1))).values).to.equal('again');
    await until(async () => (await queue.counts()).running === 0);
  });

  it('cancels a task of several callers only when all of them have cancelled it', async () => {
    const gate = createDeferred<undefined>();
    let [stops, calls] = [0, 0];
    const queue = await open(async (_, { signal }) => {
      calls++;
      signal.addEventListener('abort', () => stops++);
      await Promise.race([gate.promise, untilStopped(signal)]);
      return answer('done');
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const first = errorOf(queue.run(taskOf(1), { signal: one.signal }));
    const second = queue.run(taskOf(1), { signal: two.signal });
    await until(() => calls === 1);
    // The second caller may still be on its way.
    await sleep(100);
    one.abort();
    expect((await first).name).to.equal('AbortError');
    await sleep(100);
    gate.resolve(undefined);
    expect((await second).values).to.equal('done');
    expect([stops, calls]).to.deep.equal([0, 1]);
  });

  it('runs as many tasks at the same time as it may', async () => {
    let [running, most] = [0, 0];
    const queue = await open(async () => {
      most = Math.max(most, ++running);
      await sleep(30);
      running--;
      return answer(null);
    }, 3);
    await Promise.all(Array.from({ length: 12 }, (_, index) => queue.run(taskOf(index))));
    expect(most).to.equal(3);
    await until(async () => (await queue.counts()).running === 0);
    expect(await queue.counts()).to.deep.equal({ queued: 0, running: 0 });
  });

  it('refuses what cannot be sent, and what a handler returns that cannot', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const bad: Record<string, unknown> = {
      NaN,
      Infinity,
      date: new Date(0),
      map: new Map(),
      loop,
      text: 1n,
      f: () => 1,
    };
    const queue = await open(({ values }) => Promise.resolve(answer(bad[values as string] as JsonValue)));
    for (const [name, value] of Object.entries(bad)) {
      for (const work of [queue.run(taskOf([value as JsonValue])), queue.run(taskOf(name))]) {
        const error = await errorOf(work);
        expect(error.constructor, name).to.equal(ValueError);
        expect(error.message).to.match(/^A task holds only values of JSON, and bytes\. values/);
      }
    }
    const noBytes = taskOf(1, { x: [1, 2] as unknown as Uint8Array });
    expect((await errorOf(queue.run(noBytes))).message).to.equal("The bytes 'x' of a task must be a Uint8Array.");
    for (const kind of ['', 'a:b', 'a b', 'x'.repeat(201), '../x'])
      expect((await errorOf(queue.run({ ...taskOf(1), kind }))).constructor, kind).to.equal(ValueError);
    for (const id of ['', 'a:b', 'a\nb'])
      expect((await errorOf(queue.run(taskOf(1), { id }))).constructor).to.equal(ValueError);
    const options: object = { onProgres: () => undefined };
    expect((await errorOf(queue.run(taskOf(1), options))).message).to.match(/^run has no option 'onProgres'/);
  });

  it('does not wait any more when it is closed', async () => {
    const gate = createDeferred<undefined>();
    let calls = 0;
    const queue = await open(async () => {
      calls++;
      await gate.promise;
      return answer(1);
    });
    const run = errorOf(queue.run(taskOf(1)));
    await until(() => calls === 1);
    await queue.close();
    await queue.close();
    const error = await run;
    expect([error.code, error.context['reason']]).to.deep.equal(['task-failed', 'closed']);
    expect((await errorOf(queue.run(taskOf(1)))).context['reason']).to.equal('closed');
    gate.resolve(undefined);
  });
}

describe('a queue of tasks: in this process', () => {
  suite((handlers, concurrency) => {
    const queue = localTaskQueue(handlers, { concurrency, retryMillis: 1 });
    return Promise.resolve({ queue, close: () => queue.close() });
  });

  it('says which kinds it does', async () => {
    const queue = localTaskQueue({ 'train-shard': () => Promise.resolve(answer(1)) });
    const error = await errorOf(queue.run({ kind: 'train-shart', values: null, bytes: {} }));
    expect(error.message).to.equal("This queue does no 'train-shart' tasks.");
    expect(error.suggestion).to.equal("Did you mean 'train-shard'?");
  });
});

describeWithRedis('a queue of tasks', (redis) => {
  let prefixes = 0;
  suite(async (handlers, concurrency) => {
    const shared = { redis: redis().url, prefix: `test-${String(prefixes++)}`, pollMillis: 50 };
    const worker = await startTaskWorker({ ...shared, handlers, concurrency, lockMillis: 10_000 });
    const queue = await openTaskQueue({ ...shared, retryMillis: 1 });
    return {
      queue,
      async close() {
        await queue.close();
        await worker.close({ drainMillis: 100 });
      },
    };
  });
});
