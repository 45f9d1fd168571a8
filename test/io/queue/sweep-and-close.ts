import { openTaskQueue } from '../../../src/io/queue/redis-task-queue.ts';
import { startTaskWorker } from '../../../src/io/queue/task-worker.ts';
import { sweepPareto } from '../../../src/training/index.ts';
import { TRAIN_SHARD, trainShardTask } from '../../../src/training/networks/shard-task.ts';

/** Trains on a queue and a worker of this process, and closes both. Then nothing keeps the process running. */
const [redis = '', prefix = ''] = process.argv.slice(2);

const worker = await startTaskWorker({ redis, prefix, handlers: { [TRAIN_SHARD]: trainShardTask } });
const queue = await openTaskQueue({ redis, prefix });
const x = Array.from({ length: 200 }, (_, row) => row % 7);
const table = { x, s: x.map((_, row) => 'ab'[row % 2] ?? ''), y: x.map((value) => Number(value > 3)) };
const points = await sweepPareto({ table }, { etas: [0], epochs: 1, backend: 'wasm', minGroupSize: 5, queue });
await queue.close();
await worker.close();
process.stdout.write(`${String(points.length)} point, closed\n`);
