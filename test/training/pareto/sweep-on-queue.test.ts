import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { localTaskQueue } from '../../../src/io/queue/local-task-queue.ts';
import { openTaskQueue } from '../../../src/io/queue/redis-task-queue.ts';
import type { TaskHandler, TaskQueue } from '../../../src/io/queue/task-queue.ts';
import { startTaskWorker } from '../../../src/io/queue/task-worker.ts';
import { loadTensorflow, type NetworkRows } from '../../../src/tensor/index.ts';
import { paretoToJson, sweepPareto, type SweepOptions, type TrainingSource } from '../../../src/training/index.ts';
import { TRAIN_SHARD, trainShardTask } from '../../../src/training/networks/shard-task.ts';
import { trainShards } from '../../../src/training/networks/train-shards.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { errorOf } from '../../helpers/waiting.ts';

/** Rows whose groups differ in a feature that determines the target. */
function makeSource(rows = 700): TrainingSource {
  const random = createRandom(3);
  const s = Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 'few' : 'many'));
  const x = s.map((group) => random.normal() + (group === 'many' ? 0.8 : -0.8));
  const y = x.map((value) => Number(value + 0.7 * random.normal() > 0));
  return { table: { x, noise: x.map(() => random.normal()), s, y } };
}

const quick: SweepOptions = {
  etas: Array.from({ length: 11 }, (_, index) => index / 2),
  epochs: 3,
  lr: 0.02,
  batchSize: 100,
  penalty: 'mean_gap',
  backend: 'wasm',
};

/** A queue that does its tasks with a handler, and records them. */
interface OpenedQueue {
  readonly queue: TaskQueue;
  readonly close: () => Promise<void>;
}

function suite(open: (handler: TaskHandler) => Promise<OpenedQueue>): void {
  const withQueue = async <T>(
    work: (queue: TaskQueue) => Promise<T>,
    handler: TaskHandler = trainShardTask,
  ): Promise<T> => {
    const { queue, close } = await open(handler);
    try {
      return await work(queue);
    } finally {
      await close();
    }
  };

  for (const [name, options] of Object.entries<SweepOptions>({
    'one split': {},
    'three folds and another penalty': {
      folds: 3,
      penalty: 'equalized_odds',
      etas: [0, 1],
      hidden: [5, 3],
      weightDecay: 0.01,
    },
    'a search for etas': { etas: 'auto', epochs: 2 },
    'the backend cpu and a linear model': { backend: 'cpu', hidden: [], schedule: 'cosine', batchSize: 'auto' },
  })) {
    it(`returns exactly what this process does: ${name}`, async () => {
      const here = paretoToJson(await sweepPareto(makeSource(), { ...quick, ...options }));
      const there = await withQueue((queue) => sweepPareto(makeSource(), { ...quick, ...options, queue }));
      expect(paretoToJson(there)).to.deep.equal(here);
    });
  }

  it('sends a few hundred bytes of settings, and arrays as bytes; shards share them', async () => {
    const tasks: { values: string; bytes: Readonly<Record<string, Uint8Array>> }[] = [];
    const progress: number[] = [];
    await withQueue(
      (queue) =>
        sweepPareto(makeSource(), { ...quick, queue, onProgress: ({ done, total }) => progress.push(done / total) }),
      (task, context) => {
        tasks.push({ values: JSON.stringify(task.values), bytes: task.bytes });
        return trainShardTask(task, context);
      },
    );
    expect(tasks).to.have.length(2);
    const [first, second] = tasks.map(({ bytes }) =>
      Object.values(bytes).map((own) => Buffer.from(own).toString('hex')),
    );
    expect(first).to.deep.equal(second);
    for (const { values, bytes } of tasks) {
      expect(values.length).to.be.below(600);
      // 700 rows with two features, a label and a group, in 4 bytes each.
      expect(Object.values(bytes).reduce((sum, { length }) => sum + length, 0)).to.equal(700 * 4 * 4);
    }
    expect(progress.at(-1)).to.equal(1);
    expect(progress).to.deep.equal([...progress].sort((a, b) => a - b));
  });

  it('throws the error of a shard with its class and details, and cancels the others', async () => {
    const stops: string[] = [];
    const error = await withQueue(
      (queue) => errorOf(sweepPareto(makeSource(), { ...quick, lr: 1e30, queue })),
      async (task, context) => {
        const { spec } = task.values as { spec: { etas: number[] } };
        if (spec.etas.includes(0)) return trainShardTask(task, context);
        return new Promise((_, reject) => {
          context.signal.addEventListener('abort', () => {
            stops.push('stopped');
            reject(new Error('stopped'));
          });
        });
      },
    );
    expect(error).to.be.instanceOf(TrainingError);
    expect(error.message).to.match(/eta 0 is not a number after epoch 1: a learning rate of 1e\+30/);
    expect(error.context).to.deep.equal({ model: 'eta 0', epoch: 1 });
    expect(error.suggestion).to.contain('(lr)');
    expect(stops).to.deep.equal(['stopped']);
  });

  it('stops at a signal, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const options = { ...quick, epochs: 100_000, patience: 100_000, signal: controller.signal };
    await withQueue(async (queue) => {
      const onProgress = (): void => {
        controller.abort(reason);
      };
      expect(await errorOf(sweepPareto(makeSource(), { ...options, queue, onProgress }))).to.equal(reason);
    });
  });
}

describe('sweepPareto on a queue in this process', () => {
  suite((handler) => {
    const queue = localTaskQueue({ [TRAIN_SHARD]: handler }, { concurrency: 2 });
    return Promise.resolve({ queue, close: () => queue.close() });
  });

  it('rejects what cannot be sent, before it trains', async () => {
    const queue = localTaskQueue({});
    const network = (): tf.LayersModel => tf.sequential();
    const error = await errorOf(sweepPareto(makeSource(), { ...quick, queue, network }));
    expect(error).to.be.instanceOf(ValueError);
    expect(error.message).to.equal(
      'The network parameter is a function, which cannot be sent to the workers of a queue.',
    );
    await loadTensorflow({ backend: 'cpu' });
    const [features, column] = [tf.ones<tf.Rank.R2>([4, 2]), tf.tensor1d([0, 1, 0, 1])];
    const tensors = await errorOf(sweepPareto({ features, target: column, sensitive: column }, { queue }));
    expect(tensors.message).to.match(/^The features parameter is a tensor, which cannot be sent/);
    tf.dispose([features, column]);
    const noQueue = { queue: 'redis://localhost' as unknown as TaskQueue };
    expect((await errorOf(sweepPareto(makeSource(), noQueue))).message).to.match(
      /^The queue parameter must be a queue/,
    );
  });
});

describeWithRedis('sweepPareto on a queue', (redis) => {
  let prefixes = 0;
  suite(async (handler) => {
    const shared = { redis: redis().url, prefix: `sweep-${String(prefixes++)}`, pollMillis: 100 };
    const worker = await startTaskWorker({ ...shared, handlers: { [TRAIN_SHARD]: handler }, concurrency: 2 });
    const queue = await openTaskQueue(shared);
    return {
      queue,
      async close() {
        // Nothing is left: tasks were done, or cancelled.
        for (let tries = 0; tries < 100 && (await queue.counts()).running > 0; tries++)
          await new Promise((resolve) => setTimeout(resolve, 20));
        expect(await queue.counts()).to.deep.equal({ queued: 0, running: 0 });
        await queue.close();
        await worker.close({ drainMillis: 0 });
      },
    };
  });
});

describe('networks that are trained together', () => {
  const random = createRandom(5);
  const rowsOf = (rows: number): NetworkRows => ({
    x: Float32Array.from({ length: rows * 7 }, () => random.normal()),
    y: Float32Array.from({ length: rows }, () => Number(random.next() < 0.5)),
    groups: Int32Array.from({ length: rows }, () => Math.floor(3 * random.next())),
    inputs: 7,
    groupCount: 3,
  });
  const [train, validation, heldOut] = [rowsOf(403), rowsOf(101), rowsOf(57)];

  for (const backend of ['wasm', 'cpu'] as const) {
    it(`do not depend on the others, in groups of 2 and more: ${backend}`, async () => {
      const etas = Array.from({ length: 16 }, (_, index) => index / 4);
      const inGroups = async (size: number): Promise<unknown[]> => {
        const shards = Array.from({ length: etas.length / size }, (_, at) => ({
          ...{ train, validation, heldOut, backend },
          spec: {
            etas: etas.slice(at * size, (at + 1) * size),
            penalty: 'covariance',
            task: 'binary',
            groupCount: 3,
            seed: 1,
          } as const,
          options: {
            epochs: 2,
            lr: 0.01,
            hidden: [9],
            patience: 5,
            weightDecay: 0,
            schedule: 'constant',
            seed: 1,
            batchSize: 50,
          } as const,
        }));
        return (await trainShards(shards, { threads: 1 })).flatMap(({ weights }) => weights);
      };
      const all = await inGroups(16);
      expect(all).to.have.length(16);
      for (const size of [2, 4, 8]) expect(await inGroups(size), String(size)).to.deep.equal(all);
    });
  }
});
