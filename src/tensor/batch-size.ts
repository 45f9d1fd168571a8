import { isOnDevice, largestTensor } from './backend-traits.ts';
import type { Tf } from './runtime.ts';

/** How many rows a step learns from: so many, or as many as suit the data and where it is computed. */
export type BatchSize = number | 'auto';

/** What is trained. */
interface Work {
  /** Rows to learn from. */
  readonly rows: number;
  /** Networks trained together. */
  readonly models: number;
  /** Units of each hidden layer of one network. */
  readonly hidden: readonly number[];
}

/** Steps that an epoch keeps: with fewer a network learns less from the same epochs. */
const LEAST_STEPS = 50;

/** No smaller: a step's fixed cost then outweighs its rows. */
const SMALLEST = 32;

/** No larger: on a CPU more rows at once save nothing; on a GPU they do. */
const LARGEST = { host: 512, device: 8192 };

/** The most numbers that the widest layer gives for one batch, so that a step's memory stays below some hundred MiB. */
const MOST_ACTIVATIONS = 2 ** 24;

/**
 * Chooses a batch size: the largest power of two that leaves an epoch 50 steps, from 32 to 512 on a CPU and to 8,192 on
 * a GPU, and no larger than a GPU's buffers allow. It depends on the rows and the kind of backend, not on its speed, so
 * that the same work has the same result on two GPUs.
 */
export function chooseBatchSize(tf: Tf, size: BatchSize, { rows, models, hidden }: Work): number {
  if (size !== 'auto') return size;
  const widest = models * Math.max(1, ...hidden);
  const limit = isOnDevice(tf) ? LARGEST.device : LARGEST.host;
  const most = Math.min(limit, rows / LEAST_STEPS, Math.min(MOST_ACTIVATIONS, largestTensor(tf)) / widest);
  return Math.max(SMALLEST, 2 ** Math.floor(Math.log2(Math.max(1, most))));
}
