import { endianness } from 'node:os';

import { DataValidationError } from '../../exceptions/index.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import { Slots } from '../../internal/slots.ts';
import type { JsonValue, Task, TaskContext, TaskData, TaskQueue } from '../../io/queue/task-queue.ts';
import { areTensors, type NetworkRows, traitsOf } from '../../tensor/index.ts';
import { areInFile } from '../data/row-blocks.ts';
import type { LayerWeights } from './network-weights.ts';
import { openShardThreads, type ShardThreads } from './shard-threads.ts';
import { type SweepShard, trainShard } from './sweep-worker.ts';
import type { TrainedNetworks } from './train-networks.ts';

/** The kind of task that trains a shard. */
export const TRAIN_SHARD = 'train-shard';

/**
 * Trains shards on the workers of a queue. If one fails, the others are cancelled.
 * @param report receives the progress of a shard
 */
export async function trainOnQueue(
  shards: readonly SweepShard[],
  queue: TaskQueue,
  report: (shard: number, event: ProgressEvent) => void,
  signal: AbortSignal | undefined,
): Promise<TrainedNetworks[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
  const runs = shards.map(async (shard, index) => {
    const onProgress = (event: ProgressEvent): void => {
      report(index, event);
    };
    return decodeTrained(await queue.run(encodeShard(shard), { onProgress, signal: either }));
  });
  try {
    return await Promise.all(runs);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(runs);
    throw error;
  }
}

/** The number of threads is limited by the number of tasks that a worker does at the same time. */
const MAX_THREADS = 256;

/** The time after which a thread without work is ended. */
const IDLE_MILLIS = 60_000;

let threads: Promise<ShardThreads> | undefined;

/** Backends that do not compute in the calling thread train one shard after another. */
const device = new Slots(1);

/** Trains the shard of a task in this process: in a thread, if its backend computes in the calling thread. */
export async function trainShardTask(task: Task, { onProgress, signal }: TaskContext): Promise<TaskData> {
  const shard = decodeShard(task);
  if (traitsOf(shard.backend).isOneThreaded) {
    const opened = (threads ??= openShardThreads({ maxThreads: MAX_THREADS, idleMillis: IDLE_MILLIS }));
    try {
      return encodeTrained(await (await opened).train(shard, { onProgress, signal }));
    } finally {
      // The next task opens new threads.
      if ((await opened).isBroken && threads === opened) threads = undefined;
    }
  }
  await device.take(signal);
  try {
    return encodeTrained(await trainShard(shard, { onProgress, signal }));
  } finally {
    device.release();
  }
}

/** The three sets of rows of a shard. */
const ROWS = ['train', 'validation', 'heldOut'] as const;

/** The values of a task. The arrays are sent as bytes, in the byte order of the machine. */
interface ShardValues extends Pick<SweepShard, 'spec' | 'backend' | 'options'> {
  readonly byteOrder: string;
  readonly rows: Readonly<Record<(typeof ROWS)[number], Pick<NetworkRows, 'inputs' | 'groupCount'>>>;
}

/** Returns a shard as a task. Its rows must be arrays. */
function encodeShard(shard: SweepShard): Task {
  const { spec, backend, options } = shard;
  const rows = ROWS.map((name) => [name, hostRows(shard[name])] as const);
  const values: ShardValues = {
    byteOrder: endianness(),
    spec,
    backend,
    options,
    rows: Object.fromEntries(
      rows.map(([name, { inputs, groupCount }]) => [name, { inputs, groupCount }]),
    ) as ShardValues['rows'],
  };
  const bytes = rows.flatMap(([name, { x, y, groups, weights }]) =>
    Object.entries({ x, y, groups, ...(weights === undefined ? {} : { weights }) }).map(
      ([column, array]) => [`${name}.${column}`, bytesOf(array)] as const,
    ),
  );
  return { kind: TRAIN_SHARD, values: values as object as JsonValue, bytes: Object.fromEntries(bytes) };
}

function hostRows(rows: SweepShard['train'] | undefined): NetworkRows {
  if (rows === undefined || areInFile(rows) || areTensors(rows)) throw new TypeError('Only arrays can be sent.');
  return rows;
}

function decodeShard({ values, bytes }: Task): SweepShard {
  const { byteOrder, rows, ...others } = values as object as ShardValues;
  if (byteOrder !== endianness()) {
    throw new DataValidationError('The task comes from a machine with another byte order.', {
      context: { expected: endianness(), received: byteOrder },
      suggestion: 'Use callers and workers with the same byte order.',
    });
  }
  const [train, validation, heldOut] = ROWS.map((name): NetworkRows => {
    const column = (of: string): Uint8Array => bytes[`${name}.${of}`] ?? new Uint8Array(0);
    const weights = bytes[`${name}.weights`];
    return {
      ...rows[name],
      x: floats(column('x')),
      y: floats(column('y')),
      groups: new Int32Array(bufferOf(column('groups'))),
      ...(weights === undefined ? {} : { weights: floats(weights) }),
    };
  }) as [NetworkRows, NetworkRows, NetworkRows];
  return { ...others, train, validation, heldOut };
}

/** The values of the output of a task. */
interface TrainedValues extends Pick<TrainedNetworks, 'bestEpochs' | 'batchSize'> {
  /** The sizes of the layers, which are the same for all networks. */
  readonly layers: readonly Pick<LayerWeights, 'inputs' | 'outputs'>[];
}

function encodeTrained({ weights, bestEpochs, batchSize, losses, heldOut }: TrainedNetworks): TaskData {
  const networks = weights as readonly (readonly LayerWeights[])[];
  const layers = (networks[0] ?? []).map(({ inputs, outputs }) => ({ inputs, outputs }));
  const parameters = networks.flatMap((network) => network.flatMap(({ kernel, bias }) => [kernel, bias]));
  const values: TrainedValues = { bestEpochs, batchSize, layers };
  return {
    values: values as object as JsonValue,
    bytes: {
      weights: Buffer.concat(parameters.map(bytesOf)),
      // A network that has stopped early may have a loss that JSON cannot represent.
      losses: bytesOf(Float64Array.from(losses.flat())),
      heldOut: bytesOf(heldOut as Float32Array),
    },
  };
}

function decodeTrained({ values, bytes }: TaskData): TrainedNetworks {
  const { bestEpochs, batchSize, layers } = values as object as TrainedValues;
  const parameters = floats(bytes['weights'] ?? new Uint8Array(0));
  let start = 0;
  const take = (length: number): Float32Array => parameters.slice(start, (start += length));
  const weights = bestEpochs.map(() =>
    layers.map(({ inputs, outputs }): LayerWeights => {
      const kernel = take(inputs * outputs);
      return { inputs, outputs, kernel, bias: take(outputs) };
    }),
  );
  const all = [...new Float64Array(bufferOf(bytes['losses'] ?? new Uint8Array(0)))];
  const models = bestEpochs.length;
  const losses = Array.from({ length: all.length / models }, (_, epoch) =>
    all.slice(epoch * models, (epoch + 1) * models),
  );
  return { weights, bestEpochs, batchSize, losses, heldOut: floats(bytes['heldOut'] ?? new Uint8Array(0)) };
}

/** Returns the bytes of an array, without a copy. */
function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bufferOf(bytes));
}

/** Copies bytes to a buffer of their own, because they may start at any position of a larger one. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
