import type { OnProgress, ProgressEvent } from '../../internal/progress.ts';
import { sumOf } from '../../internal/values.ts';
import type { TaskQueue } from '../../io/queue/task-queue.ts';
import {
  areTensors,
  type BatchSize,
  chooseBatchSize,
  countRows,
  type Tensorflow,
  traitsOf,
} from '../../tensor/index.ts';
import { areInFile, countBlockRows } from '../data/row-blocks.ts';
import { type FairnessPenaltyName, maxRowsOf } from './penalties.ts';
import { trainOnQueue } from './shard-task.ts';
import { coreCount, openShardThreads } from './shard-threads.ts';
import { type SweepShard, trainShard } from './sweep-worker.ts';
import type { TrainedNetworks } from './train-networks.ts';
import type { NetworkFactory } from './user-network.ts';

/** Options of {@link trainShards}. These options do not affect the results. */
export interface TrainShardsOptions {
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * The maximum number of threads. The default is the number of the machine's cores, or 1 for a small amount of work.
   */
  readonly threads?: number | undefined;
  /** The queue whose workers train the shards, instead of this process. */
  readonly queue?: TaskQueue | undefined;
}

/** If a sweep needs fewer multiplications than this number, starting a thread takes more time than it saves. */
const WORTH_A_THREAD = 2e10;

/** The networks of a sweep, in shards. */
interface ShardPlan {
  /** The etas of each shard. */
  readonly parts: readonly (readonly number[])[];
  readonly batchSize: number;
  readonly shardOf: (rows: Pick<SweepShard, 'train' | 'validation' | 'heldOut'>, etas: readonly number[]) => SweepShard;
}

/** The options of a sweep that shards need. */
interface ShardPlanOptions extends Omit<SweepShard['options'], 'batchSize'> {
  readonly batchSize: BatchSize;
  readonly etas: readonly number[];
  readonly penalty: FairnessPenaltyName;
  readonly network?: NetworkFactory | undefined;
}

/** The batch size that is assumed before `auto` chooses one. */
const USUAL_BATCH_SIZE = 512;

/** Divides the networks of a sweep into shards. */
export function planShards(
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  { rows, groups }: { readonly rows: number; readonly groups: number },
  { etas, penalty, network, ...options }: ShardPlanOptions,
): ShardPlan {
  const { epochs, lr, hidden, patience, weightDecay, schedule, seed } = options;
  const assumed = options.batchSize === 'auto' ? USUAL_BATCH_SIZE : options.batchSize;
  const together = traitsOf(backend).networksAtOnce(assumed * Math.max(1, ...hidden));
  const size = network === undefined ? Math.min(together, etas.length) : 1;
  const parts = Array.from({ length: Math.ceil(etas.length / size) }, (_, part) =>
    etas.slice(part * size, (part + 1) * size),
  );
  const maxRows = maxRowsOf(penalty);
  const batchSize = chooseBatchSize(tf, options.batchSize, { rows, models: size, hidden, groups, maxRows });
  const training = { epochs, lr, hidden, patience, weightDecay, schedule, seed, batchSize };
  return {
    parts,
    batchSize,
    shardOf(data, own) {
      const spec = { etas: own, penalty, task: 'binary', groupCount: data.train.groupCount, seed } as const;
      return { ...data, spec, backend, network, options: training };
    },
  };
}

/**
 * Trains the shards of a sweep. If there are several cores and enough work, worker threads are used. Otherwise, the
 * shards are trained one after another. The networks of a shard do not depend on the thread or on the other shards.
 */
export async function trainShards(
  shards: readonly SweepShard[],
  options: TrainShardsOptions,
): Promise<TrainedNetworks[]> {
  const report = joinProgress(options.onProgress, shards);
  if (options.queue !== undefined) return trainOnQueue(shards, options.queue, report, options.signal);
  const work = shards.reduce((sum, shard) => sum + multiplications(shard), 0);
  const wanted = options.threads ?? (work > WORTH_A_THREAD ? coreCount() : 1);
  const threads = Math.min(shards.length, wanted);
  // Tensors and functions cannot be sent to another thread.
  const canMove = shards.every(
    ({ backend, train, network }) =>
      traitsOf(backend).isOneThreaded && (areInFile(train) || !areTensors(train)) && network === undefined,
  );
  if (threads > 1 && canMove) return trainInThreads(shards, threads, report, options.signal);
  const trained: TrainedNetworks[] = [];
  try {
    for (const [index, shard] of shards.entries()) {
      const onProgress = (event: ProgressEvent): void => {
        report(index, event);
      };
      trained.push(await trainShard(shard, { onProgress, signal: options.signal }));
    }
    return trained;
  } catch (error) {
    disposeOutputs(trained);
    throw error;
  }
}

/** Disposes of the outputs that are tensors. */
export function disposeOutputs(trained: readonly TrainedNetworks[]): void {
  for (const { heldOut } of trained) if (!(heldOut instanceof Float32Array)) heldOut.dispose();
}

async function trainInThreads(
  shards: readonly SweepShard[],
  threads: number,
  report: (shard: number, event: ProgressEvent) => void,
  signal: AbortSignal | undefined,
): Promise<TrainedNetworks[]> {
  const pool = await openShardThreads({ maxThreads: threads });
  try {
    return await Promise.all(
      shards.map((shard, index) => {
        const onProgress = (event: ProgressEvent): void => {
          report(index, event);
        };
        return pool.train(shard, { onProgress, signal });
      }),
    );
  } finally {
    await pool.close();
  }
}

/** Combines the progress of all shards into one progress report, in epochs or in the blocks of all epochs. */
function joinProgress(
  onProgress: OnProgress | undefined,
  shards: readonly SweepShard[],
): (shard: number, event: ProgressEvent) => void {
  const done = shards.map(() => 0);
  // All shards have the same rows.
  return (shard, event) => {
    done[shard] = event.done;
    onProgress?.({ stage: event.stage, done: sumOf(done), total: shards.length * event.total });
  };
}

/**
 * Estimates the number of multiplications that a shard needs, from the forward pass and the gradient of the first
 * layer.
 */
function multiplications({ train, spec, options }: SweepShard): number {
  const rows = areInFile(train) ? countBlockRows(train) : countRows(train);
  return 2 * rows * train.inputs * (options.hidden[0] ?? 1) * spec.etas.length * options.epochs;
}
